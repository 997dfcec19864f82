// `maps`: why a process has its memory.
#include "cli/commands.h"

#include <memory>
#include <utility>

#include "analysis/maps_report.h"
#include "cli/output.h"
#include "cli/targets.h"
#include "view/csv/reports.h"
#include "view/json/maps.h"
#include "view/text/maps.h"
#include "watch/process_maps.h"

namespace tidemark::cli {
namespace {

using analysis::MapsSort;

struct MapsCommandOptions {
  CommonOptions common;
  std::string target;
  MapsSort sort = MapsSort::Address;
  view::MapsTextOptions text;
};

MapsSort sort_of(const std::string& word) {
  if (word == "size") return MapsSort::Size;
  if (word == "rss") return MapsSort::Rss;
  if (word == "pss") return MapsSort::Pss;
  if (word == "private") return MapsSort::Private;
  return word == "swap" ? MapsSort::Swap : MapsSort::Address;
}

std::string render(const analysis::MapsReport& report,
                   const MapsCommandOptions& options, int fd) {
  switch (options.common.format) {
    case Format::Json:
    case Format::JsonLines:
      return view::maps_json(report, json_layout(options.common.format),
                             options.text.summary_only);
    case Format::Csv:
      return view::maps_csv(report);
    case Format::Text:
      break;
  }
  return view::maps_text(report, options.text, text_style(options.common, fd));
}

base::Result<ExitCode> run_maps(const MapsCommandOptions& options) {
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  std::vector<std::string> names;
  if (!options.target.empty()) names.push_back(options.target);
  base::Result<std::vector<model::ProcessId>> targets =
      find_targets(*roots, names);
  if (!targets) return targets.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();

  base::Result<analysis::MapsReport> report =
      watch::read_process_maps(*roots, targets->front(), options.sort);
  if (!report) return report.error();
  base::Status status = output->write(render(*report, options, output->fd()));
  if (!status) return status.error();
  return ExitCode::Done;
}

}  // namespace

Command maps_command() {
  auto options = std::make_shared<MapsCommandOptions>();
  Command command;
  command.name = "maps";
  command.summary = "the address space of a process, region by region";
  command.description =
      "Prints every mapping (M) of a process with its size (:sz), what of it "
      "is resident (:res), its proportional share (:pss), its private part "
      "(:priv), its swapped part (:swap) and the object behind it (:obj). "
      "Mappings that belong together are one region (R): a program or library "
      "with its bss, a thread's stack with its guard, a malloc arena. /A is "
      "the whole address space, /R the span its mappings lie in.";
  command.examples = {
      {"tidemark maps 1234", "every mapping, by address"},
      {"tidemark maps --explain 1234", "with a word on each kind of region"},
      {"tidemark maps --summary 1234", "only the sums by kind of memory"},
      {"tidemark maps --sort pss 1234 | head", "the largest first"},
  };
  OptionTable& table = command.options;
  table.positional("PID|NAME", "the process", options->target, true);
  table.flag("--explain", "say in words what each kind of region is",
             options->text.explain);
  table.flag("--summary", "only the sums by kind of memory",
             options->text.summary_only);
  table.choice(
      "--sort", {"address", "size", "rss", "pss", "private", "swap"},
      "order of the regions (default address)",
      [options = options.get()](const std::string& word) -> base::Status {
        options->sort = sort_of(word);
        return base::Ok{};
      });
  add_common_options(table, options->common, {"text", "json", "jsonl", "csv"});
  command.run = [options] { return run_maps(*options); };
  return command;
}

}  // namespace tidemark::cli
