#include "cli/graph_capture.h"

#include <string>
#include <utility>

#include "base/escape.h"
#include "cli/progress.h"
#include "source/roots.h"

namespace tidemark::cli {

base::Result<analysis::Graph> capture_graph(const CommonOptions& common,
                                            watch::GraphOptions options) {
  base::Result<source::Roots> roots = source::open_roots(common.proc_path);
  if (!roots) return roots.error();
  Progress progress("reading processes", common.quiet);
  options.progress = [&](size_t done, size_t total) {
    progress.update(done, total);
  };
  base::Result<analysis::GraphInput> input = watch::read_graph(*roots, options);
  if (!input) return input.error();
  return analysis::make_graph(*input);
}

void print_graph_notes(const CommonOptions& common,
                       const analysis::Graph& graph) {
  for (const std::string& note : graph.notes)
    print_note(common, base::visible(note));
  const auto count = [&](uint64_t processes, const std::string& what,
                         const char* hint) {
    if (processes == 0) return;
    print_note(common, std::to_string(processes) +
                           (processes == 1 ? " process " : " processes ") +
                           what +
                           (processes == 1 ? " and counts" : " and count") +
                           " as zero" + hint);
  };
  // Root was refused by something that rights of ours do not lift.
  count(graph.unknown_process_count, "may not be read",
        graph.reader_is_root ? "" : "; run as root to see them");
  count(graph.failed_process_count, "could not be read", "");
}

}  // namespace tidemark::cli
