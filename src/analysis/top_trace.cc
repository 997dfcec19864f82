#include "analysis/top_trace.h"

#include <utility>

namespace tidemark::analysis {

std::shared_ptr<const TopTrace> make_top_trace(
    std::shared_ptr<const model::Trace> trace,
    std::shared_ptr<const TraceHistory> history,
    std::shared_ptr<const model::TraceBefore> before) {
  auto made = std::make_shared<TopTrace>();
  made->by_task = TraceOutline(trace, history, TraceGroup::Task);
  made->by_module = TraceOutline(trace, history, TraceGroup::Module);
  made->by_cgroup = TraceOutline(trace, history, TraceGroup::Cgroup);
  made->trace = std::move(trace);
  made->history = std::move(history);
  made->before = std::move(before);
  return made;
}

}  // namespace tidemark::analysis
