// The whole machine and its control groups at one instant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/reading.h"

namespace tidemark::model {

// /proc/meminfo. A field is empty when this kernel does not report it; zero
// means the kernel said zero.
struct MemInfo {
  std::optional<uint64_t> total_bytes;
  std::optional<uint64_t> free_bytes;
  std::optional<uint64_t> available_bytes;
  std::optional<uint64_t> buffers_bytes;
  std::optional<uint64_t> cached_bytes;  // page cache and shmem, no swap cache
  std::optional<uint64_t> swap_cached_bytes;
  std::optional<uint64_t> swap_total_bytes;
  std::optional<uint64_t> swap_free_bytes;
  std::optional<uint64_t> zswap_bytes;
  std::optional<uint64_t> anon_pages_bytes;
  std::optional<uint64_t> mapped_bytes;
  std::optional<uint64_t> shmem_bytes;
  std::optional<uint64_t> slab_reclaimable_bytes;
  std::optional<uint64_t> slab_unreclaimable_bytes;
  std::optional<uint64_t> kernel_stack_bytes;
  std::optional<uint64_t> page_tables_bytes;
  std::optional<uint64_t> secondary_page_tables_bytes;
  std::optional<uint64_t> vmalloc_used_bytes;
  std::optional<uint64_t> percpu_bytes;
  std::optional<uint64_t> hugetlb_bytes;
  std::optional<uint64_t> huge_page_size_bytes;
  bool operator==(const MemInfo&) const = default;
};

// /proc/zoneinfo: what no line of meminfo tells.
struct ZoneInfo {
  uint64_t free_pages = 0;          // on the buddy lists
  uint64_t per_cpu_free_pages = 0;  // on per-CPU lists: free, but not MemFree
  uint64_t managed_pages = 0;
  bool operator==(const ZoneInfo&) const = default;
};

enum class CgroupVersion : uint8_t { None, V1, V2 };

// A control group with its own account. Empty fields are unknown: the root
// group of v2 has no memory.current, kernels before 5.19 have no memory.peak.
struct Cgroup {
  std::string path;  // from the root of its hierarchy, "/" for the root
  uint64_t inode_id = 0;
  Reading<uint64_t> charged_bytes;  // memory.current, memory.usage_in_bytes
  Reading<uint64_t> peak_bytes;     // memory.peak, memory.max_usage_in_bytes
  std::optional<uint64_t> limit_bytes;  // empty when there is none
};

struct Machine {
  MemInfo meminfo;
  std::optional<ZoneInfo> zoneinfo;
  uint64_t page_size_bytes = 4096;
  CgroupVersion cgroup_version = CgroupVersion::None;
  bool cgroup_charges_hugetlb = false;
  std::string cgroup_note;  // why there are no groups, when there are none
};

}  // namespace tidemark::model
