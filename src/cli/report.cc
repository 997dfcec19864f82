#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/timeline_report.h"
#include "cli/commands.h"
#include "cli/moments.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/recorded_info.h"
#include "cli/recorded_peak.h"
#include "view/json/info.h"
#include "view/json/peak.h"
#include "view/json/timeline.h"

namespace tidemark::cli {
namespace {

// Three ticks of each: more than most screens have pixels for.
constexpr size_t kColumns = 700;

struct ReportCommandOptions {
  std::string path;
  std::string pid;
  std::string process;
  CommonOptions common;
};

base::Result<analysis::TimelineReport> timeline_report(
    const store::Recording& recording, const store::ProcessSet& chosen,
    const model::Timeline& timeline) {
  analysis::TimelineInput input;
  input.path = recording.path();
  input.info = &recording.info();
  input.ticks = &recording.ticks();
  input.processes = &recording.processes();
  input.timeline = &timeline;
  input.drawn = analysis::choose_drawn(timeline, recording.ticks(), kColumns);
  std::vector<int64_t> ticks;
  for (size_t index : input.drawn)
    ticks.push_back(recording.ticks()[index].id);
  base::Result<model::Bands> bands = recording.bands(chosen, ticks);
  if (!bands) return bands.error();
  input.bands = &*bands;
  base::Result<std::vector<model::RecordedGap>> gaps = recording.gaps();
  if (!gaps) return gaps.error();
  input.gaps = std::move(*gaps);
  return analysis::make_timeline_report(input);
}

base::Result<ExitCode> write_report_page(
    const store::Recording& recording, const analysis::TimelineReport& timeline,
    RecordedPeak& peak, Output& output) {
  constexpr auto kLayout = base::JsonWriter::Layout::OneLine;
  RecordedPeakOptions options;
  options.with_trends = false;
  base::Result<analysis::PeakReport> highest = peak.report(options);
  if (!highest) return highest.error();
  base::Result<analysis::InfoReport> head = recorded_head(recording);
  if (!head) return head.error();
  const std::string timeline_text = view::timeline_json(timeline, kLayout);
  const std::string peak_text = view::peak_json(*highest, kLayout);
  const std::string info_text = view::info_json(*head, kLayout);
  return write_page(
      output, std::array<view::PageReport, 3>{{{"timeline", timeline_text},
                                               {"peak", peak_text},
                                               {"info", info_text}}});
}

base::Result<ExitCode> run_report(const ReportCommandOptions& options) {
  const bool is_page = options.common.format == Format::Text;
  if (is_page) {
    base::Status status =
        check_page_output(options.common, "tidemark report FILE -o out.html");
    if (!status) return status.error();
  }
  base::Result<store::Recording> recording = open_recording(options.path);
  if (!recording) return recording.error();
  base::Result<store::ProcessSet> chosen =
      choose_processes(*recording, options.pid, options.process);
  if (!chosen) return chosen.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  RecordedPeak peak(*recording, *chosen);
  base::Result<const model::Timeline*> sums = peak.timeline();
  if (!sums) return sums.error();
  base::Result<analysis::TimelineReport> timeline =
      timeline_report(*recording, *chosen, **sums);
  if (!timeline) return timeline.error();
  if (is_page) return write_report_page(*recording, *timeline, peak, *output);
  base::Status status = output->write(
      view::timeline_json(*timeline, options.common.format == Format::Json
                                         ? base::JsonWriter::Layout::Pretty
                                         : base::JsonWriter::Layout::OneLine));
  if (!status) return status.error();
  return ExitCode::Done;
}

}  // namespace

Command report_command() {
  auto options = std::make_shared<ReportCommandOptions>();
  Command command;
  command.name = "report";
  command.summary = "a recording as one HTML file to look at and to mail";
  command.description =
      "Writes a page that needs nothing but a browser: memory over time by "
      "kind, process, mapping and control group, and what it was made of at "
      "any moment one chooses. All data is in the file; it loads nothing. Long "
      "recordings are drawn with fewer samples, the lowest and the highest of "
      "each column, so that no peak is lost. JSON has the same numbers.";
  command.examples = {
      {"tidemark report web.tdm -o web.html", "open it from disk, mail it"},
      {"tidemark report web.tdm -p 4711 -o one.html", "one process"},
      {"tidemark report web.tdm --json", "what is drawn, as numbers"},
  };
  OptionTable& table = command.options;
  table.positional("FILE", "the recording", options->path, true);
  table.value("-p,--pid", "PID", "of this process alone", options->pid);
  table.value("--process", "ID", "the same, by its number in the recording",
              options->process);
  add_common_options(table, options->common, {"html", "json", "jsonl"});
  command.run = [options] { return run_report(*options); };
  return command;
}

}  // namespace tidemark::cli
