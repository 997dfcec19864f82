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

// /proc/vmstat: events since boot that tell of pressure. Lines the kernel
// keeps per zone or per reclaimer are summed.
struct VmStat {
  std::optional<uint64_t> fault_count;
  std::optional<uint64_t> major_fault_count;
  std::optional<uint64_t> swapped_in_pages;
  std::optional<uint64_t> swapped_out_pages;
  std::optional<uint64_t> scanned_pages;    // looked at by reclaim
  std::optional<uint64_t> reclaimed_pages;  // taken by it
  std::optional<uint64_t> stall_count;      // allocations that had to reclaim
  std::optional<uint64_t> refault_anon_pages;  // back soon after being taken
  std::optional<uint64_t> refault_file_pages;
  std::optional<uint64_t> huge_fault_count;
  std::optional<uint64_t> compact_stall_count;
  std::optional<uint64_t> oom_kill_count;
  bool operator==(const VmStat&) const = default;
};

// /proc/pressure/memory: time tasks have lost waiting for memory.
struct Pressure {
  std::optional<uint64_t> some_ns;  // at least one task waited
  std::optional<uint64_t> full_ns;  // all of them did
  bool operator==(const Pressure&) const = default;
};

// All zram devices: swap that is itself in RAM.
struct Zram {
  uint64_t stored_bytes = 0;  // as swapped out, before compression
  uint64_t memory_bytes = 0;  // RAM it takes, with its overhead
  bool operator==(const Zram&) const = default;
};

enum class CgroupVersion : uint8_t { None, V1, V2 };

// What the kernel charges a group for, by kind: memory.stat and its like.
struct GroupStat {
  std::optional<uint64_t> anon_bytes;
  std::optional<uint64_t> file_bytes;  // page cache with tmpfs and shmem
  std::optional<uint64_t> shmem_bytes;
  std::optional<uint64_t> file_mapped_bytes;
  std::optional<uint64_t> kernel_bytes;  // all of the below, and the rest
  std::optional<uint64_t> slab_bytes;
  std::optional<uint64_t> page_tables_bytes;
  std::optional<uint64_t> kernel_stack_bytes;
  std::optional<uint64_t> percpu_bytes;
  std::optional<uint64_t> socket_bytes;
  std::optional<uint64_t> vmalloc_bytes;
  std::optional<uint64_t> swap_bytes;
  bool operator==(const GroupStat&) const = default;
};
// All kernel memory of a group; v2 keeps that of sockets beside the rest.
uint64_t kernel_bytes(const GroupStat& stat);

// A control group with its own account. Empty fields are unknown: the root
// group of v2 has no memory.current, kernels before 5.19 have no memory.peak.
struct Cgroup {
  std::string path;  // from the root of its hierarchy, "/" for the root
  uint64_t inode_id = 0;
  Reading<uint64_t> charged_bytes;  // memory.current, memory.usage_in_bytes
  Reading<uint64_t> peak_bytes;     // memory.peak, memory.max_usage_in_bytes
  std::optional<uint64_t> limit_bytes;  // empty when there is none
  GroupStat stat;                       // only when asked for
};

struct Machine {
  MemInfo meminfo;
  std::optional<ZoneInfo> zoneinfo;
  // The three below only when asked for.
  VmStat vmstat;
  Pressure pressure;
  std::optional<Zram> zram;
  uint64_t page_size_bytes = 4096;
  CgroupVersion cgroup_version = CgroupVersion::None;
  bool cgroup_charges_hugetlb = false;
  std::string cgroup_note;  // why there are no groups, when there are none
};

}  // namespace tidemark::model
