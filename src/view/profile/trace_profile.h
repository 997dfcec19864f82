// A trace in the formats of profilers: what is held now, or at the machine's
// peak, by task and stack.
#pragma once

#include <string>

#include "model/trace.h"

namespace tidemark::view {

struct TraceProfileOptions {
  bool at_peak = false;  // as it stood when the machine was at its peak
};

// One line for each stack of each task, "task;outermost;…;innermost pages", as
// flame graph tools read it.
std::string trace_folded(const model::Trace& trace,
                         const TraceProfileOptions& options);

// speedscope's JSON: one profile with a sample for each stack of each task.
std::string trace_speedscope(const model::Trace& trace,
                             const TraceProfileOptions& options);

// pprof's protocol buffer, not compressed, which its readers take as well. The
// values are pages and bytes held, and bytes at the machine's peak where that
// is known; `at_peak` says which a reader shows first. The task is a label.
std::string trace_pprof(const model::Trace& trace,
                        const TraceProfileOptions& options);

}  // namespace tidemark::view
