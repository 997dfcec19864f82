// Two moments of a recording in the formats of profilers: who holds what, as
// stacks machine → group → process → kind of memory → object.
#pragma once

#include <cstdint>
#include <string>

#include "model/sample.h"

namespace tidemark::view {

// The moment that was asked for, and that of the recording's peak, which may be
// the same. Bytes are PSS and hugetlb, so that no page counts twice.
struct MemoryProfile {
  const model::Sample* inuse = nullptr;
  const model::Sample* peak = nullptr;
  uint64_t inuse_realtime_ns = 0;
  uint64_t peak_realtime_ns = 0;
};

// pprof's protocol buffer, not compressed, which its readers take as well:
// inuse_space and peak_space.
std::string memory_pprof(const MemoryProfile& profile);

// speedscope's JSON: a profile for each of the two.
std::string memory_speedscope(const MemoryProfile& profile);

}  // namespace tidemark::view
