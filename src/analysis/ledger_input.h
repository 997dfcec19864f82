// What a ledger is made from: the counted pages, who maps them, and the
// kernel's own counters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/page_sets.h"
#include "analysis/page_tally.h"
#include "analysis/sample_tally.h"
#include "model/kernel_memory.h"
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

struct FileName {
  uint64_t address = 0;
  std::string_view path;
};

enum class LedgerBy : uint8_t { Class, Cgroup, Process, File };

struct LedgerInput {
  const PageTally* tally = nullptr;
  const PageSets* sets = nullptr;
  std::vector<LedgerProcess> processes;    // index: the number in the sets
  std::map<uint64_t, std::string> groups;  // path by inode
  std::vector<FileName> files;             // by address, ascending
  uint64_t other_file_count = 0;           // those without a path here
  std::map<uint64_t, std::string> caches;  // slab cache by address
  model::MemInfo meminfo;
  model::ZoneInfo zoneinfo;
  model::KernelReadings kernel;
  uint64_t page_bytes = 4096;
  LedgerBy by = LedgerBy::Class;
  const SampleTally* sample = nullptr;  // `tally` is estimated from it
  // How far off zoneinfo's count of free pages on lists of CPUs may be, because
  // they came and went meanwhile.
  uint64_t cpu_list_error_pages = 0;
};

}  // namespace tidemark::analysis
