#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/moments.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/report_parts.h"
#include "cli/vms_page.h"

namespace tidemark::cli {
namespace {

constexpr std::string_view kAllParts = "all";
// For who has the timeline already.
constexpr std::string_view kRestParts = "rest";

std::vector<std::string> part_words() {
  std::vector<std::string> words = ReportParts::names();
  words.emplace_back(ReportParts::kKinds);
  words.emplace_back(kAllParts);
  words.emplace_back(kRestParts);
  return words;
}

struct ReportCommandOptions {
  std::string path;
  std::string pid;
  std::string process;
  std::string base_path;
  std::string part;  // empty: the page, or the timeline
  bool compat = false;
  CommonOptions common;
};

// What the recording does not have is left out: the page shows the others.
base::Result<ExitCode> write_report_page(ReportParts& parts, Output& output) {
  std::vector<std::string> names;
  std::vector<std::string> texts;
  for (std::string& name : ReportParts::names()) {
    base::Result<std::string> text =
        parts.json(name, base::JsonWriter::Layout::OneLine);
    if (!text && text.error().kind == base::ErrorKind::NotFound) continue;
    if (!text) return text.error();
    names.push_back(std::move(name));
    texts.push_back(std::move(*text));
  }
  std::vector<view::PageReport> reports;
  for (size_t i = 0; i < names.size(); ++i)
    reports.push_back({names[i], texts[i]});
  return write_page(output, reports);
}

// All but the trace, which can be larger than all the rest, in one object.
base::Result<std::string> parts_json(ReportParts& parts, bool has_timeline) {
  std::string text = R"({"schema":"tidemark.report/1")";
  for (const std::string& name : ReportParts::names()) {
    if (name == "trace" || (name == "timeline" && !has_timeline)) continue;
    base::Result<std::string> part =
        parts.json(name, base::JsonWriter::Layout::OneLine);
    if (!part && part.error().kind == base::ErrorKind::NotFound) continue;
    if (!part) return part.error();
    text += ",\"" + name + "\":";
    text += base::trim(*part);
  }
  text += "}\n";
  return text;
}

base::Result<Side> base_side(const ReportCommandOptions& options) {
  base::Result<store::Recording> recording = open_recording(options.base_path);
  if (!recording) return recording.error();
  base::Result<store::ProcessSet> chosen =
      choose_processes(*recording, options.pid, "");
  if (!chosen) return chosen.error();
  return recorded_side(*recording, *chosen, "peak", SideCourse::Told);
}

base::Result<ExitCode> write_asked(const ReportCommandOptions& options,
                                   bool is_page, ReportParts& parts,
                                   Output& output) {
  if (!options.base_path.empty()) {
    base::Result<Side> side = base_side(options);
    if (!side) return side.error();
    parts.set_base(std::move(*side));
  }
  if (is_page) return write_report_page(parts, output);
  const auto layout = options.common.format == Format::Json
                          ? base::JsonWriter::Layout::Pretty
                          : base::JsonWriter::Layout::OneLine;
  base::Result<std::string> text =
      options.part == kAllParts || options.part == kRestParts
          ? parts_json(parts, options.part == kAllParts)
          : parts.json(options.part.empty() ? "timeline" : options.part,
                       layout);
  if (!text) return text.error();
  base::Status status = output.write(*text);
  if (!status) return status.error();
  return ExitCode::Done;
}

// It has one VM and no processes to choose, no parts and nothing to compare.
base::Result<ExitCode> report_memstats(const ReportCommandOptions& options,
                                       const MemstatsFile& file, bool is_page) {
  const bool is_chosen = !options.pid.empty() || !options.process.empty();
  if (is_chosen || !options.base_path.empty() || !options.part.empty()) {
    return base::fail(
        base::ErrorKind::Misused,
        options.path + " is a file of memstats, which is drawn as a whole",
        "leave out --pid, --process, --base and --part");
  }
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  if (file.is_cut) {
    print_note(options.common,
               base::visible(options.path) + " has no end; " +
                   base::counted(file.records.size(), "record is whole",
                                 "records are whole"));
  }
  return write_memstats_report(
      file,
      {options.path, is_page, options.compat,
       !is_page && options.common.format == Format::Json
           ? base::JsonWriter::Layout::Pretty
           : base::JsonWriter::Layout::OneLine},
      *output);
}

base::Result<ExitCode> run_report(const ReportCommandOptions& options) {
  const bool is_page =
      options.common.format == Format::Text && options.part.empty();
  if (is_page) {
    base::Status status =
        check_page_output(options.common, "tidemark report FILE -o out.html");
    if (!status) return status.error();
  }
  base::Result<std::optional<MemstatsFile>> memstats =
      read_memstats_file(options.path);
  if (!memstats) return memstats.error();
  if (*memstats) return report_memstats(options, **memstats, is_page);
  if (options.compat) {
    return base::fail(base::ErrorKind::Misused,
                      "--compat draws files of memstats alone",
                      "tidemark vm watch --format memstats writes one");
  }
  base::Result<store::Recording> recording = open_recording(options.path);
  if (!recording) return recording.error();
  base::Result<store::ProcessSet> chosen =
      choose_processes(*recording, options.pid, options.process);
  if (!chosen) return chosen.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  ReportParts parts(*recording, *chosen);
  return write_asked(options, is_page, parts, *output);
}

}  // namespace

Command report_command() {
  auto options = std::make_shared<ReportCommandOptions>();
  Command command;
  command.name = "report";
  command.summary = "a recording as one HTML file to look at and to mail";
  command.description =
      "Writes a page that needs nothing but a browser: memory over time by "
      "kind, process, mapping and control group, what it was made of at any "
      "moment one chooses, where the machine's memory was, and the stacks of "
      "a trace. All data is in the file; it loads nothing. Long "
      "recordings are drawn with fewer samples, the lowest and the highest of "
      "each column, so that no peak is lost. JSON has the same numbers: those "
      "of the timeline, or of the part that is asked for. The file may also be "
      "one of crosvm's memstats collector, or of `vm watch --format memstats`: "
      "its VM is drawn, host and guest in one chart.";
  command.examples = {
      {"tidemark report web.tdm -o web.html", "open it from disk, mail it"},
      {"tidemark report web.tdm -p 4711 -o one.html", "one process"},
      {"tidemark report web.tdm --json", "what is drawn, as numbers"},
      {"tidemark report web.tdm --part ps", "the processes at the peak"},
      {"tidemark report b.tdm --base a.tdm -o ab.html",
       "compared with another"},
      {"tidemark report memory-data.json -o vm.html", "a VM, by memstats"},
  };
  OptionTable& table = command.options;
  table.positional("FILE", "the recording, or a file of memstats",
                   options->path, true);
  table.value("-p,--pid", "PID", "of this process alone", options->pid);
  table.value("--process", "ID", "the same, by its number in the recording",
              options->process);
  table.value("--base", "FILE", "compare its peak with that of this recording",
              options->base_path);
  table.choice("--part", part_words(),
               "print this part of the page as JSON; kinds: the timeline by "
               "kind alone, which is quick; all: all but the trace in one "
               "object; rest: these without the timeline",
               [o = options.get()](const std::string& word) -> base::Status {
                 o->part = word;
                 return base::Ok{};
               });
  table.flag("--compat",
             "of a file of memstats: the sections of memstats_chart, by its "
             "arithmetic",
             options->compat);
  add_common_options(table, options->common, {"html", "json", "jsonl"});
  command.run = [options] { return run_report(*options); };
  return command;
}

}  // namespace tidemark::cli
