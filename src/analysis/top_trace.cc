#include "analysis/top_trace.h"

#include <utility>

namespace tidemark::analysis {

std::shared_ptr<const TopTrace> make_top_trace(
    std::shared_ptr<const model::Trace> trace,
    std::shared_ptr<const TraceHistory> history,
    std::shared_ptr<const model::TraceBefore> before) {
  auto made = std::make_shared<TopTrace>();
  made->index = std::make_shared<const TraceIndex>(make_trace_index(*trace));
  made->by_task = TraceOutline(trace, history, made->index, TraceGroup::Task);
  made->by_module =
      TraceOutline(trace, history, made->index, TraceGroup::Module);
  made->by_cgroup =
      TraceOutline(trace, history, made->index, TraceGroup::Cgroup);
  made->trace = std::move(trace);
  made->history = std::move(history);
  made->before = std::move(before);
  return made;
}

std::shared_ptr<const TopTrace> of_tasks(const TopTrace& whole,
                                         const std::vector<bool>& is_meant) {
  auto made = std::make_shared<TopTrace>(whole);
  made->by_task = whole.by_task.of_tasks(is_meant);
  made->by_module = whole.by_module.of_tasks(is_meant);
  made->by_cgroup = whole.by_cgroup.of_tasks(is_meant);
  uint64_t pages = 0;
  for (const OutlineNode& task : made->by_task.groups())
    pages += task.total.pages;
  made->chosen_pages = pages;
  return made;
}

}  // namespace tidemark::analysis
