// What a table of counts shows, with the parts of a key put together.
#pragma once

#include <cstdint>
#include <map>

#include "analysis/tally_table.h"

namespace tidemark::analysis {

using Counts = std::map<TallyKey, uint64_t>;

inline Counts counts_of(const TallyTable& table) {
  Counts counts;
  table.visit(
      [&](const TallyKey& key, uint64_t pages) { counts[key] += pages; });
  return counts;
}

}  // namespace tidemark::analysis
