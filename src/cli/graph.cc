// `graph`: the machine as memgraph's records.
#include <memory>
#include <utility>

#include "cli/commands.h"
#include "cli/embedded/graph_schema.h"
#include "cli/graph_capture.h"
#include "cli/output.h"
#include "view/json/graph.h"

namespace tidemark::cli {
namespace {

struct GraphCommandOptions {
  watch::GraphOptions graph;
  bool is_schema = false;
  CommonOptions common;
};

base::Result<ExitCode> run_graph(const GraphCommandOptions& options) {
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  if (options.is_schema) {
    base::Status status = output->write(kGraphSchema);
    if (!status) return status.error();
    return ExitCode::Done;
  }
  base::Result<analysis::Graph> graph =
      capture_graph(options.common, options.graph);
  if (!graph) return graph.error();
  base::Status status = output->write(view::graph_json(*graph));
  if (!status) return status.error();
  print_graph_notes(options.common, *graph);
  return graph->failed_process_count > 0 ? ExitCode::Failed : ExitCode::Done;
}

}  // namespace

Command graph_command() {
  auto options = std::make_shared<GraphCommandOptions>();
  Command command;
  command.name = "graph";
  command.summary = "the machine as a tree of records, in memgraph's JSON";
  command.description =
      "Prints one JSON array of records as Fuchsia's memgraph does: parts of "
      "RAM (kernel), control groups (j), processes (p), threads (t), each with "
      "id, type, parent and name, and at the end the time. Its treemap script "
      "reads it. The parts of RAM add up to RAM to the byte, and processes "
      "never to more than the part they are in. Shares are to the page with "
      "root, and the kernel's own sums without. Numbers in ids (koids) hold "
      "for one capture; pid, start time and path of a group stand beside them. "
      "A process that may not be read has zeros and says why under unknown; "
      "one whose reading failed also makes the exit status 1.";
  command.examples = {
      {"tidemark graph -v -o now.json", "with the objects of each process"},
      {"tidemark graph -v | ./treemap.py > now.html", "Fuchsia's own page"},
      {"tidemark graph -tH | jq '.[].pid'", "with threads and descriptors"},
      {"tidemark graph -S", "the JSON schema of it"},
  };
  OptionTable& table = command.options;
  table.flag("-v,--vmos", "memory objects of each process (vmos, vmo_refs)",
             options->graph.objects);
  table.flag("-t,--threads", "a record for each thread",
             options->graph.threads);
  table.flag("-H,--handles", "open descriptors by type (handle_stats)",
             options->graph.descriptors);
  table.flag("-S,--schema", "print the JSON schema and end",
             options->is_schema);
  table.flag("--json", "nothing else is printed; for the habit", [] {});
  table.value("-o,--output", "FILE", "write the result there; - is stdout",
              options->common.output_path);
  table.value("--proc", "DIR",
              "read this tree instead of /proc (variable PROCFS): a copy, a "
              "mount of another machine's",
              options->common.proc_path);
  table.flag("-q,--quiet", "no remarks on standard error",
             options->common.quiet);
  table.flag("-h,--help", "this text", options->common.help);
  command.run = [options] { return run_graph(*options); };
  return command;
}

}  // namespace tidemark::cli
