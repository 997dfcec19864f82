// `buckets`: all RAM under names people know.
#include <memory>
#include <utility>

#include "analysis/buckets.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/embedded/buckets.h"
#include "cli/graph_capture.h"
#include "cli/output.h"
#include "parse/bucket_rules.h"
#include "view/csv/buckets.h"
#include "view/json/buckets.h"
#include "view/text/buckets.h"

namespace tidemark::cli {
namespace {

struct BucketCommandOptions {
  std::string rules_path;
  bool is_print_rules = false;
  view::BucketTextOptions text;
  CommonOptions common;
};

base::Result<std::vector<model::BucketRule>> read_rules(
    const std::string& path) {
  if (path.empty()) return parse::parse_bucket_rules(kBucketRules);
  base::Result<base::Directory> here = base::open_directory(".");
  if (!here) return here.error();
  base::Result<std::string> text = base::read_file_at(*here, path);
  if (!text) return base::within("reading the rules", text.error());
  base::Result<std::vector<model::BucketRule>> rules =
      parse::parse_bucket_rules(*text);
  if (!rules) {
    return base::fail(base::ErrorKind::Malformed,
                      path + ": " + rules.error().what, rules.error().hint);
  }
  return rules;
}

std::string render(const analysis::BucketReport& report,
                   const BucketCommandOptions& options, int fd) {
  switch (options.common.format) {
    case Format::Json:
    case Format::JsonLines:
      return view::buckets_json(report, options.text.with_undigested,
                                json_layout(options.common.format));
    case Format::Csv:
      return options.text.with_undigested ? view::undigested_csv(report)
                                          : view::buckets_csv(report);
    case Format::Text:
      break;
  }
  return view::buckets_text(report, options.text,
                            text_style(options.common, fd));
}

base::Result<ExitCode> run_buckets(const BucketCommandOptions& options) {
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  if (options.is_print_rules) {
    base::Status status = output->write(kBucketRules);
    if (!status) return status.error();
    return ExitCode::Done;
  }
  base::Result<std::vector<model::BucketRule>> rules =
      read_rules(options.rules_path);
  if (!rules) return rules.error();
  watch::GraphOptions detail;
  detail.objects = true;
  base::Result<analysis::Graph> graph = capture_graph(options.common, detail);
  if (!graph) return graph.error();
  const analysis::BucketReport report = analysis::make_buckets(*graph, *rules);
  base::Status status = output->write(render(report, options, output->fd()));
  if (!status) return status.error();
  print_graph_notes(options.common, *graph);
  return graph->failed_process_count > 0 ? ExitCode::Failed : ExitCode::Done;
}

}  // namespace

Command buckets_command() {
  auto options = std::make_shared<BucketCommandOptions>();
  Command command;
  command.name = "buckets";
  command.summary = "all RAM under names people know, by rules";
  command.description =
      "Gives every memory object of every process to the first rule that takes "
      "it and prints the sums, largest first; then what no rule took "
      "(Undigested), what of programs and files is in no object that was seen "
      "(Orphaned: page cache that nobody maps, processes that may not be "
      "read), the kernel's own memory and what is free. The lines add up to "
      "all RAM. Rules are those of Fuchsia's memory digest: a JSON list of "
      "{\"name\", \"process\", \"vmo\", \"cgroup\"}, the last three regular "
      "expressions (ECMAScript) that must match a whole name; one that is "
      "missing matches all. Rules for common programs are built in.";
  command.examples = {
      {"tidemark buckets", "by the rules that are built in"},
      {"tidemark buckets --undigested", "and what they did not take"},
      {"tidemark buckets --print-rules -o mine.json",
       "to begin own rules with"},
      {"tidemark buckets --rules mine.json --csv", "by own rules, for a sheet"},
  };
  OptionTable& table = command.options;
  table.value("--rules", "FILE", "take these rules instead of those built in",
              options->rules_path);
  table.flag("--print-rules", "print the rules that are built in and end",
             options->is_print_rules);
  table.flag("--undigested",
             "list the objects that no rule took (CSV: instead of the lines)",
             options->text.with_undigested);
  table.count("--top", "of the undigested in text at most N (default 40)",
              [o = options.get()](uint64_t count) {
                o->text.undigested_limit = count;
              });
  add_common_options(table, options->common, {"text", "json", "jsonl", "csv"});
  command.run = [options] { return run_buckets(*options); };
  return command;
}

}  // namespace tidemark::cli
