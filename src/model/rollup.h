// How the totals of a process divide into kinds of memory. The kernel tells so
// of PSS and of huge pages, and of nothing else: resident, private and swapped
// pages stay with what no part explains.
#pragma once

#include <array>
#include <cstdint>

#include "model/category.h"

namespace tidemark::model {

// All in one unit, whichever.
struct RollupTotals {
  uint64_t rss = 0;  // without huge pages, as the kernel counts
  uint64_t pss = 0;
  uint64_t uss = 0;
  uint64_t swap = 0;
  uint64_t hugetlb = 0;
  uint64_t private_hugetlb = 0;  // of it
  uint64_t pss_anon = 0;
  uint64_t pss_file = 0;
  uint64_t pss_shmem = 0;
};

struct RollupShare {
  Category category = Category::Unnamed;
  uint64_t rss = 0;
  uint64_t pss = 0;
  uint64_t uss = 0;
  uint64_t swap = 0;
  bool operator==(const RollupShare&) const = default;
};

inline constexpr size_t kRollupShareCount = 5;
using RollupShares = std::array<RollupShare, kRollupShareCount>;

// Huge pages, anon, file, shm, and the rest, which is last; some may be zero.
// They add up to the whole also where a broken file claims more of a part.
RollupShares split_rollup(const RollupTotals& totals);

}  // namespace tidemark::model
