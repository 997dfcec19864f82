#include <sys/stat.h>

#include <memory>
#include <utility>

#include "analysis/info_report.h"
#include "cli/commands.h"
#include "cli/moments.h"
#include "cli/output.h"
#include "cli/recorded_peak.h"
#include "view/json/info.h"
#include "view/text/info.h"

namespace tidemark::cli {
namespace {

struct InfoCommandOptions {
  std::string path;
  bool verbose = false;
  CommonOptions common;
};

uint64_t size_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size)
                                          : 0;
}

base::Result<analysis::InfoReport> report_of(
    const store::Recording& recording) {
  analysis::InfoInput input;
  input.info = &recording.info();
  input.ticks = &recording.ticks();
  input.processes = &recording.processes();
  base::Result<std::vector<model::RecordedGap>> gaps = recording.gaps();
  if (!gaps) return gaps.error();
  input.gaps = std::move(*gaps);
  base::Result<std::vector<model::RecordedNote>> notes = recording.notes();
  if (!notes) return notes.error();
  input.notes = std::move(*notes);
  analysis::InfoReport report = analysis::make_info_report(input);
  report.path = recording.path();
  const uint64_t log_bytes = size_of(recording.path() + "-wal");
  report.file_bytes = size_of(recording.path()) + log_bytes;
  report.is_open = log_bytes > 0;
  base::Result<std::vector<model::ProcessMaxima>> maxima = recording.maxima();
  if (!maxima) return maxima.error();
  report.maxima = std::move(*maxima);
  base::Result<std::vector<store::TableSize>> tables = recording.table_sizes();
  if (!tables) return tables.error();
  for (const store::TableSize& table : *tables)
    report.tables.push_back({table.name, table.row_count, table.bytes});
  base::Result<std::optional<model::RecordedTrace>> trace = recording.trace();
  if (!trace) return trace.error();
  report.trace = *trace;
  RecordedPeak peak(recording, {});
  base::Result<std::vector<analysis::Trend>> growing = peak.growing();
  if (!growing) return growing.error();
  report.growing = std::move(*growing);
  base::Result<const model::Timeline*> timeline = peak.timeline();
  if (!timeline) return timeline.error();
  report.timeline = **timeline;
  report.peak_index =
      analysis::find_peak(report.timeline, analysis::PeakMetric::Pss);
  return report;
}

base::Result<ExitCode> run_info(const InfoCommandOptions& options) {
  base::Result<store::Recording> recording = open_recording(options.path);
  if (!recording) return recording.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  base::Result<analysis::InfoReport> report = report_of(*recording);
  if (!report) return report.error();
  return write_report(
      *output, options.common,
      [&](const auto& style) {
        return view::info_text(*report, options.verbose, style);
      },
      [&](auto layout) { return view::info_json(*report, layout); });
}

}  // namespace

Command info_command() {
  auto options = std::make_shared<InfoCommandOptions>();
  Command command;
  command.name = "info";
  command.summary = "what a recording holds, and how well it was made";
  command.description =
      "Says whom a recording is of, over which time, with how many samples and "
      "gaps, what it cost to make, where less was read than asked for and why, "
      "what kept growing, what it holds of page allocations, and where the "
      "bytes of the file are.";
  command.examples = {
      {"tidemark info web.tdm", "the summary"},
      {"tidemark info -v web.tdm", "with every process"},
      {"tidemark info --json web.tdm", "for a script"},
  };
  OptionTable& table = command.options;
  table.positional("FILE", "the recording", options->path, true);
  table.flag("-v,--verbose", "list every process", options->verbose);
  add_common_options(table, options->common, {"text", "json", "jsonl"});
  command.run = [options] { return run_info(*options); };
  return command;
}

}  // namespace tidemark::cli
