// Functions of programs by the pages that were first touched through them, as
// they stood at the peak of a trace with stacks of programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"

namespace tidemark::analysis {

// A page belongs to one function: the innermost one outside of the C and C++
// libraries. That is who asked memset or malloc to touch it, and what people
// look for; a list by the innermost of all would name memset alone. What one
// function touched for two callers is two entries, since helpers are called by
// many.
struct TraceFunction {
  std::string name;  // empty: only the address is known
  std::string module;
  uint64_t address = 0;  // the lowest of those it was met at
  std::string caller;    // empty: it has none, or that is not known
  uint64_t pages = 0;
  // The function of a library that touched most of them; empty: itself.
  std::string through;
  bool operator==(const TraceFunction&) const = default;
};

// Those with the most pages first. Together they have all pages of the peak
// that came through any code at all.
std::vector<TraceFunction> functions_at_peak(const model::Trace& trace);

}  // namespace tidemark::analysis
