// Slab objects that were followed, by cache and by the place that took them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/trace_tree.h"
#include "model/slab_trace.h"

namespace tidemark::analysis {

struct SlabCacheRow {
  std::string name;
  uint64_t bytes = 0;
  uint64_t objects = 0;
  uint64_t allocation_count = 0;
  uint64_t untold_count = 0;  // more than 0: what it holds is an upper bound
  // Its places peak at different times: the peak of the cache lies between.
  uint64_t peak_bytes = 0;
  uint64_t least_peak_bytes = 0;
  bool is_peak_exact() const { return peak_bytes == least_peak_bytes; }
  std::vector<model::SlabSite> sites;
};

// The largest first, in each as well; at most `top` of each, 0: all.
std::vector<SlabCacheRow> make_slab_rows(const model::SlabTrace& trace,
                                         TraceOrder order, size_t top);

}  // namespace tidemark::analysis
