// What would come back if some processes ended: pages that nobody else maps,
// not the sum of what each has for itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/ledger_input.h"
#include "model/object.h"

namespace tidemark::analysis {

struct WhatIf {
  uint64_t process_count = 0;
  uint64_t anon_bytes = 0;  // pages that only they map
  uint64_t page_table_bytes = 0;
  uint64_t kernel_stack_bytes = 0;
  // Of shared memory that ends with them: nobody else maps it or holds it open,
  // and no name and no segment keeps it. Empty: it was not asked who has it.
  std::optional<uint64_t> shmem_freed_bytes;
  uint64_t freed_bytes = 0;  // all of the above
  uint64_t shmem_bytes = 0;  // mapped by them alone, whoever holds it open
  uint64_t file_bytes = 0;   // the same; stays as cache that can be dropped
  uint64_t private_sum_bytes = 0;  // what adding up each one's private gives
};
// `dies` is parallel to the processes; the tally went by mapper. `scan` may be
// null.
WhatIf what_if(const LedgerInput& input, const std::vector<bool>& dies,
               const model::ObjectScan* scan = nullptr);

}  // namespace tidemark::analysis
