// The rows of one measurement of memory-watcher: whether they are its own, and
// what they are.
#pragma once

#include <cstdint>
#include <vector>

#include "model/mapping.h"
#include "model/region.h"

namespace tidemark::store {

struct WatcherRange {
  int64_t row_id = -1;  // of its range; negative: the key leads nowhere
  model::Mapping mapping;
  bool is_own = true;  // its range is of the process that was measured
};

struct RangeCheck {
  bool is_whole = false;     // as they were measured
  bool is_repaired = false;  // after taking others out
  size_t row_count = 0;      // before
  uint64_t pss_kib = 0;      // before
};

// Compares the rows with the sums, which were taken before the keys could
// collide, and takes out those that cannot belong to them.
RangeCheck check_ranges(int64_t rss_kib, int64_t pss_kib,
                        std::vector<WatcherRange>& ranges);

// What each of them is, in order of address.
std::vector<model::RegionKind> watcher_kinds(
    std::vector<model::Mapping>& mappings);

}  // namespace tidemark::store
