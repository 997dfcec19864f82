#include "analysis/trace_moment.h"

#include <utility>

namespace tidemark::analysis {

model::Trace trace_at_peak(model::Trace trace) {
  for (model::TraceTask& task : trace.tasks)
    task.pages = 0;
  uint64_t pages = 0;
  for (model::TraceLeaf& leaf : trace.leaves) {
    leaf.pages = leaf.machine_peak_pages;
    leaf.held_ns = 0;
    leaf.lows.clear();
    trace.tasks[leaf.task].pages += leaf.pages;
    pages += leaf.pages;
  }
  trace.pages = pages;
  if (trace.peak_realtime_ns > trace.started_realtime_ns) {
    trace.elapsed_ns = trace.peak_realtime_ns - trace.started_realtime_ns;
  }
  if (trace.slab) {
    trace.slab = model::unknown<model::SlabTrace>(
        "only readings tell of them, not the peak");
  }
  trace.notes.emplace_back(
      "as it stood at the machine's peak; peaks are those of the whole trace");
  return trace;
}

}  // namespace tidemark::analysis
