// Sums of numbers that somebody else made up.
#pragma once

#include <cstdint>

namespace tidemark::base {

// The largest number rather than a small wrong one.
constexpr uint64_t saturating_sum(uint64_t a, uint64_t b) {
  return a + b < a ? UINT64_MAX : a + b;
}

}  // namespace tidemark::base
