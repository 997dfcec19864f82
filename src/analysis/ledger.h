// Makes the ledger of all RAM out of the counted pages and the kernel's own
// counters. Every page was counted in one class; what several classes of the
// ledger share (kernel pages without a type) is parted by counters, none of
// which can take more than is there, and what is left over is unnamed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/page_sets.h"
#include "analysis/page_tally.h"
#include "analysis/system_report.h"
#include "model/kernel_memory.h"
#include "model/ledger.h"
#include "model/machine.h"

namespace tidemark::analysis {

struct LedgerProcess {
  int32_t pid = 0;
  std::string name;
  uint64_t group = 0;  // inode of its control group
  uint64_t thread_count = 0;
  uint64_t page_table_bytes = 0;
  uint64_t resident_bytes = 0;
  bool is_read = false;  // its pages were walked
};

enum class LedgerBy : uint8_t { Class, Cgroup, Process, File };

struct LedgerInput {
  const PageTally* tally = nullptr;
  const PageSets* sets = nullptr;
  std::vector<LedgerProcess> processes;    // index: the number in the sets
  std::map<uint64_t, std::string> groups;  // path by inode
  std::map<uint64_t, std::string> files;   // path by address
  uint64_t other_file_count = 0;           // those without a path here
  std::map<uint64_t, std::string> caches;  // slab cache by address
  model::MemInfo meminfo;
  model::ZoneInfo zoneinfo;
  model::KernelReadings kernel;
  uint64_t page_bytes = 4096;
  LedgerBy by = LedgerBy::Class;
  const SampleTally* sample = nullptr;  // `tally` is estimated from it
};

model::Ledger make_ledger(const LedgerInput& input);

// What the kernel's counters alone tell, where no page may be looked at.
model::Ledger make_counter_ledger(const SystemReport& report);

// "postgres × 4", "sh (12) + cat (14) + 3 more": who a set is.
std::string set_label(const PageSets& sets, SetId set,
                      const std::vector<LedgerProcess>& processes);

// Addresses of the files and caches that the tally met, the largest first.
std::vector<uint64_t> owners_of(const PageTally& tally, PageClass page_class);

// What would come back if some processes ended.
struct WhatIf {
  uint64_t process_count = 0;
  uint64_t anon_bytes = 0;  // pages that only they map
  uint64_t page_table_bytes = 0;
  uint64_t kernel_stack_bytes = 0;
  uint64_t freed_bytes = 0;  // all of the above
  uint64_t shmem_bytes = 0;  // mapped by them alone; free if nobody holds it
  uint64_t file_bytes = 0;   // the same; stays as cache that can be dropped
  uint64_t private_sum_bytes = 0;  // what adding up each one's private gives
};
WhatIf what_if(const LedgerInput& input, const std::vector<bool>& dies);

}  // namespace tidemark::analysis
