// What `top` shows of a trace: one reading of it, whole and never changed
// again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace_history.h"
#include "analysis/trace_outline.h"
#include "model/trace.h"

namespace tidemark::analysis {

struct TopTrace {
  // Shared with its outlines.
  std::shared_ptr<const model::Trace> trace;
  std::shared_ptr<const TraceHistory> history;
  // What there was when it began; null: not asked for. Told once, so that it
  // is no part of each reading.
  std::shared_ptr<const model::TraceBefore> before;
  std::shared_ptr<const TraceIndex> index;
  TraceOutline by_task;
  TraceOutline by_module;
  TraceOutline by_cgroup;
  // What the tasks hold that were chosen; empty: all were.
  std::optional<uint64_t> chosen_pages;

  const TraceOutline& by(TraceGroup group) const {
    if (group == TraceGroup::Module) return by_module;
    return group == TraceGroup::Cgroup ? by_cgroup : by_task;
  }
};

// How tracing stands.
enum class Tracing : uint8_t {
  None,      // none was asked for
  Starting,  // or stopping
  On,
  Ended,  // what is shown is the last of it
  Still,  // of a file: there is nothing to start or stop
};

std::shared_ptr<const TopTrace> make_top_trace(
    std::shared_ptr<const model::Trace> trace,
    std::shared_ptr<const TraceHistory> history,
    std::shared_ptr<const model::TraceBefore> before);

// The same of these tasks alone, by their index in the trace.
std::shared_ptr<const TopTrace> of_tasks(const TopTrace& whole,
                                         const std::vector<bool>& is_meant);

}  // namespace tidemark::analysis
