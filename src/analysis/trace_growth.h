// What of a trace only rises: code that takes pages and does not give them
// back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/trace.h"

namespace tidemark::analysis {

// Pages that one piece of code has come to hold and did not give back: in no
// stretch of the trace did it hold less than in the one before.
struct Growth {
  uint32_t stack = 0;  // in the trace
  uint32_t task = 0;
  uint64_t pages = 0;
  uint64_t grown_pages = 0;    // between the first and the last stretch
  uint64_t stretch_count = 0;  // over which it was watched
  uint64_t rising_count = 0;   // in which it rose
  uint64_t held_ns = 0;        // how long it has held any without a break
  double pages_per_second = 0;
};

// Empty when it does not only rise, or when its past is not known.
std::optional<Growth> growth_of(const model::Trace& trace,
                                const model::TraceLeaf& leaf);

// The largest growth first.
std::vector<Growth> find_growth(const model::Trace& trace);

// Whether the trace was looked at often enough to tell: else that nothing grew
// says nothing.
bool knows_growth(const model::Trace& trace);

}  // namespace tidemark::analysis
