#include "analysis/trace_error.h"

#include <cmath>

namespace tidemark::analysis {

uint64_t trace_error_pages(const model::Trace& trace, uint64_t pages) {
  const auto others = static_cast<double>(trace.sample_period - 1);
  return static_cast<uint64_t>(
      std::ceil(2 * std::sqrt(static_cast<double>(pages) * others)));
}

}  // namespace tidemark::analysis
