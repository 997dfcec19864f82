// A process at one instant, exactly as read. Everything derived is computed
// later, so that old recordings profit from new analyses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/mapping.h"
#include "model/reading.h"
#include "model/region.h"
#include "model/smaps_fields.h"

namespace tidemark::model {

// A pid alone is reused; with its start time it is one process for ever.
struct ProcessId {
  int32_t pid = 0;
  uint64_t start_ticks = 0;  // clock ticks since boot
  bool operator==(const ProcessId&) const = default;
};

// /proc/PID/stat, the fields somebody here needs.
struct ProcessStat {
  int32_t pid = 0;
  std::string comm;
  char state = '?';
  int32_t parent_pid = 0;
  int32_t session_id = 0;
  bool is_kernel_thread = false;
  uint64_t minor_fault_count = 0;
  uint64_t major_fault_count = 0;
  uint64_t thread_count = 0;
  uint64_t start_ticks = 0;
  // Where its arguments lie. Every exec moves them, so it tells one image from
  // the next; 0 where that may not be known.
  uint64_t argument_address = 0;
  bool operator==(const ProcessStat&) const = default;
};

// /proc/PID/statm. Anyone may read it, of every process.
struct Statm {
  uint64_t size_pages = 0;
  uint64_t resident_pages = 0;
  uint64_t shared_pages = 0;  // file and shmem pages among the resident
  uint64_t text_pages = 0;
  uint64_t data_pages = 0;
  bool operator==(const Statm&) const = default;
};

// /proc/PID/status, the memory lines. Kernel threads have none of them.
struct ProcessStatus {
  std::optional<uint32_t> user_id;  // the real one
  std::optional<uint64_t> thread_count;
  std::optional<uint64_t> peak_size_bytes;   // VmPeak
  std::optional<uint64_t> size_bytes;        // VmSize
  std::optional<uint64_t> locked_bytes;      // VmLck
  std::optional<uint64_t> peak_rss_bytes;    // VmHWM
  std::optional<uint64_t> rss_bytes;         // VmRSS
  std::optional<uint64_t> rss_anon_bytes;    // RssAnon
  std::optional<uint64_t> rss_file_bytes;    // RssFile
  std::optional<uint64_t> rss_shmem_bytes;   // RssShmem
  std::optional<uint64_t> page_table_bytes;  // VmPTE
  std::optional<uint64_t> swap_bytes;        // VmSwap, without shmem's
  std::optional<uint64_t> hugetlb_bytes;     // HugetlbPages
  bool operator==(const ProcessStatus&) const = default;
};

// What a process has resident by the kernel's own counters, by what the pages
// are of; huge pages and swap stand beside.
struct ResidentCounters {
  uint64_t anon_bytes = 0;
  uint64_t file_bytes = 0;
  uint64_t shmem_bytes = 0;
  uint64_t huge_bytes = 0;
  uint64_t swap_bytes = 0;

  void add(const ResidentCounters& other) {
    anon_bytes += other.anon_bytes;
    file_bytes += other.file_bytes;
    shmem_bytes += other.shmem_bytes;
    huge_bytes += other.huge_bytes;
    swap_bytes += other.swap_bytes;
  }
  void subtract(const ResidentCounters& other) {  // of what was added before
    anon_bytes -= other.anon_bytes;
    file_bytes -= other.file_bytes;
    shmem_bytes -= other.shmem_bytes;
    huge_bytes -= other.huge_bytes;
    swap_bytes -= other.swap_bytes;
  }
  bool operator==(const ResidentCounters&) const = default;
};

// Open descriptors by what they refer to.
struct DescriptorCount {
  std::string kind;  // "file", "socket", "pipe", "memfd", "eventfd", …
  uint64_t count = 0;
  // Kernel memory behind them, where their fdinfo tells it: BPF maps and
  // programs. A map that several processes hold counts for each.
  uint64_t kernel_bytes = 0;
  bool operator==(const DescriptorCount&) const = default;
};

enum class ProcessState : uint8_t {
  Ok,            // memory was read
  Denied,        // it is there, its memory may not be read
  Gone,          // it ended while being read
  Zombie,        // ended, waits for its parent; has no memory
  KernelThread,  // has no address space
  Failed,        // some other error, said in the reading
};
std::string_view process_state_name(ProcessState state);

// How closely its memory was looked at. Detail costs the reader time and the
// process a wait for its own lock, so a recording may not read it each tick.
enum class DetailTier : uint8_t {
  Counters,  // stat, status, statm: sums as the kernel keeps them
  Scan,      // and resident, swapped and anonymous pages of each mapping
  Full,      // and every field of smaps
};
std::string_view detail_tier_name(DetailTier tier);

struct Process {
  ProcessId id;
  ProcessStat stat;
  ProcessState state = ProcessState::Ok;
  std::string command_line;         // as read: arguments parted by NUL
  Reading<std::string> executable;  // only when asked for
  std::string cgroup_path;          // in the hierarchy that accounts memory
  ProcessStatus status;
  std::optional<Statm> statm;
  std::optional<int64_t> oom_score;
  std::optional<int64_t> oom_score_adjustment;
  DetailTier tier = DetailTier::Full;
  // The plan: its mappings are read each so many samples.
  uint32_t detail_step = 1;
  Reading<SmapsFields> rollup;
  std::vector<ImageSpan> images;           // with the mappings, where readable
  Reading<std::vector<Mapping>> mappings;  // only when asked for
  // How long before this moment its mappings were read, and whether they are
  // scaled to the counters of this moment since (see model/best_known.h).
  uint64_t split_age_ns = 0;
  bool is_estimated = false;
  // Resident now, of kinds that the mappings had nothing of when they were
  // read: only this bound is known.
  ResidentCounters unsplit;
  // What each of them is, where that was decided when they were recorded: the
  // threads that told it are no longer there to ask.
  std::vector<RegionKind> kinds;
  Reading<std::vector<Thread>> threads;               // only when asked for
  Reading<std::vector<DescriptorCount>> descriptors;  // only when asked for
};

// What the classifier needs to know of a process beside its mappings. One list
// of memory devices (tmpfs, ramfs) serves all processes of a report.
RegionHints region_hints(const Process& process,
                         const std::vector<DeviceNumber>& memory_devices);

}  // namespace tidemark::model
