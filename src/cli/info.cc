#include <memory>

#include "cli/commands.h"
#include "cli/moments.h"
#include "cli/output.h"
#include "cli/recorded_info.h"
#include "view/json/info.h"
#include "view/text/info.h"

namespace tidemark::cli {
namespace {

struct InfoCommandOptions {
  std::string path;
  bool verbose = false;
  CommonOptions common;
};

base::Result<ExitCode> run_info(const InfoCommandOptions& options) {
  base::Result<store::Recording> recording = open_recording(options.path);
  if (!recording) return recording.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  base::Result<analysis::InfoReport> report = recorded_info(*recording);
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
