// The kernel's side of a graph: the machine's RAM in parts that add up to it,
// out of the ledger where there is one and out of the kernel's counters where
// there is none. No part is ever negative: counters are read one after the
// other while memory moves, so each takes no more than the others have left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/kernel_memory.h"
#include "model/ledger.h"
#include "model/machine.h"

namespace tidemark::analysis {

// total = free + vmo + slab + boot + page tables + other, to the byte.
struct KernelShares {
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;
  // Parts of what programs and files have.
  uint64_t anon_bytes = 0;
  uint64_t file_bytes = 0;
  uint64_t shmem_bytes = 0;
  uint64_t hugetlb_bytes = 0;
  uint64_t kernel_mapped_bytes = 0;
  uint64_t moved_bytes = 0;  // taken from elsewhere by make_room
  uint64_t slab_bytes = 0;
  std::optional<uint64_t> slab_used_bytes;  // by objects that are in use
  uint64_t boot_bytes = 0;
  uint64_t page_table_bytes = 0;
  // The rest by name, the unnamed last.
  std::vector<std::pair<std::string, uint64_t>> others;

  uint64_t vmo_bytes() const;
  uint64_t other_bytes() const;
  bool operator==(const KernelShares&) const = default;
};

using SlabCaches = std::optional<std::vector<model::SlabCache>>;

KernelShares shares_of_ledger(const model::Ledger& ledger,
                              const SlabCaches& slab);
// Unsupported where meminfo does not tell the total.
base::Result<KernelShares> shares_of_counters(const model::Machine& machine,
                                              const SlabCaches& slab);

// Makes the part of programs at least so large: processes were read at another
// moment and have grown. Takes it from the rest, then from what was free, and
// if even that is too little from nowhere: the total grows. Returns what was
// moved.
uint64_t make_room(KernelShares& shares, uint64_t vmo_bytes);

}  // namespace tidemark::analysis
