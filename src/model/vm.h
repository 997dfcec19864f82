// A virtual machine as its host sees it, and what its guest tells through the
// balloon. The two are not one snapshot: the host is read now, the guest told
// its figures when it was last asked.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/process.h"
#include "model/reading.h"
#include "model/smaps_fields.h"

namespace tidemark::model {

enum class VmKind : uint8_t {
  Qemu,
  Crosvm,
  Firecracker,
  CloudHypervisor,
  Other,  // holds a kvm-vm descriptor, and we do not know its program
};
std::string_view vm_kind_name(VmKind kind);   // for people: "QEMU"
std::string_view vm_kind_token(VmKind kind);  // for JSON: "qemu"

// The kind by the base name of a program; Other when it is none we know.
VmKind vm_kind_of_program(std::string_view program);

// How guest RAM was told from the monitor's own memory, surest first.
enum class RamMeans : uint8_t {
  Name,     // of the memfd or the file that it is
  Block,    // as large as those its monitor tells, and where it says
  Size,     // of an anonymous area, exactly that of the command line
  Largest,  // anonymous area: a guess
  None,     // it was not found
  Shared,   // what its processes share, where only totals are told
};
std::string_view ram_means_token(RamMeans means);

// What tells how much of it is in RAM. Blocks of a memfd count every page once,
// whoever has touched it; smaps knows what one process maps.
enum class ResidentMeans : uint8_t { Blocks, Smaps };
std::string_view resident_means_token(ResidentMeans means);

struct GuestRam {
  RamMeans means = RamMeans::None;
  ResidentMeans resident_means = ResidentMeans::Smaps;
  std::string backing;  // "memfd crosvm_guest", "anonymous memory", …
  Reading<uint64_t> configured_bytes;
  Reading<uint64_t> resident_bytes;  // huge pages included
  Reading<uint64_t> swapped_bytes;   // out, by the host
  Reading<uint64_t> hugetlb_bytes;   // of the resident
  Reading<uint64_t> thp_bytes;       // of the resident, transparent huge pages
  Reading<uint64_t> ksm_bytes;       // of the resident, merged with others
  // What merging saves: those pages are in `resident` once for each user.
  Reading<uint64_t> ksm_saved_bytes;
  bool operator==(const GuestRam&) const = default;
};

// A part of guest RAM in the monitor's address space.
struct RamBlock {
  uint64_t bytes = 0;
  std::optional<uint64_t> address;  // of its first byte, where that is told
  bool operator==(const RamBlock&) const = default;
};

enum class VmRole : uint8_t {
  Monitor,  // the VMM itself
  Child,    // below it: a device process, a jail
  Sharer,   // maps the same guest memory: virtiofsd, vhost-user back ends
};
std::string_view vm_role_token(VmRole role);

struct VmProcess {
  ProcessId id;
  std::string name;
  VmRole role = VmRole::Monitor;
  Reading<SmapsFields> own;           // all it maps but guest RAM
  Reading<SmapsFields> ram;           // guest RAM as it maps it
  std::optional<uint64_t> rss_bytes;  // as other tools show it
  std::optional<uint64_t> page_table_bytes;
  bool operator==(const VmProcess&) const = default;
};

// What a guest's balloon driver may tell. Bytes, but for counts of events.
enum class GuestField : uint8_t {
  Total,
  Free,
  Available,
  Caches,
  Shared,       // ChromeOS alone
  Unevictable,  // ChromeOS alone
  SwapIn,
  SwapOut,
  MajorFaults,
  MinorFaults,
  HugetlbAllocations,
  HugetlbFailures,
  OomKills,  // this and those below since Linux 6.12
  AllocStalls,
  AsyncScans,
  DirectScans,
  AsyncReclaims,
  DirectReclaims,
};
inline constexpr size_t kGuestFieldCount = 18;

inline constexpr std::array<std::string_view, kGuestFieldCount>
    kGuestFieldNames = {
        "total_bytes",   "free_bytes",          "available_bytes",
        "caches_bytes",  "shared_bytes",        "unevictable_bytes",
        "swap_in_bytes", "swap_out_bytes",      "major_faults",
        "minor_faults",  "hugetlb_allocations", "hugetlb_failures",
        "oom_kills",     "alloc_stalls",        "async_scans",
        "direct_scans",  "async_reclaims",      "direct_reclaims",
};

struct GuestStats {
  std::array<std::optional<uint64_t>, kGuestFieldCount> values;

  std::optional<uint64_t>& operator[](GuestField field) {
    return values[static_cast<size_t>(field)];
  }
  const std::optional<uint64_t>& operator[](GuestField field) const {
    return values[static_cast<size_t>(field)];
  }
  bool is_empty() const {
    for (const std::optional<uint64_t>& value : values)
      if (value) return false;
    return true;
  }
  bool operator==(const GuestStats&) const = default;
};

enum class GuestState : uint8_t {
  Told,
  NotAsked,     // nobody wanted to
  Unreachable,  // no control socket, or it cannot be opened
  Busy,         // the monitor speaks to one client, and has one
  NoBalloon,    // the VM has no such device
  Off,          // the monitor does not ask its guest
  Silent,       // it was asked and the guest has never answered
  Failed,       // an answer that is none, or none in time
};
std::string_view guest_state_token(GuestState state);

// What the monitor says of its guest. `balloon_bytes` is always the size of the
// balloon: QEMU and libvirt tell RAM minus balloon under the name "actual",
// the others the balloon itself.
struct GuestAnswer {
  GuestState state = GuestState::NotAsked;
  std::string because;  // for people, where the state is not Told
  std::string source;   // "QMP", "crosvm socket"; empty when nothing was asked
  GuestStats stats;
  // When the guest told them; empty where they are always fresh.
  std::optional<uint64_t> updated_realtime_s;
  std::optional<uint64_t> polling_interval_s;
  std::optional<uint64_t> configured_bytes;
  std::optional<uint64_t> balloon_bytes;
  // It was read before and after the statistics, and had changed.
  bool balloon_is_moving = false;
  std::optional<bool> deflates_on_oom;
  std::optional<bool> reports_free_pages;
  // How guest RAM lies in the monitor; of QEMU alone. Not recorded: what was
  // found by it is.
  std::vector<RamBlock> ram_blocks;
  uint64_t asked_ns = 0;  // how long that took
  bool operator==(const GuestAnswer&) const = default;
};

// A large file that a process of the VM holds open: its disk, most likely.
struct VmImage {
  std::string path;
  uint64_t size_bytes = 0;
  Reading<uint64_t> cached_bytes;  // in the host's page cache
  bool operator==(const VmImage&) const = default;
};

struct Vm {
  ProcessId id;  // of the monitor
  VmKind kind = VmKind::Other;
  std::string name;
  std::string uuid;
  std::string cgroup_path;
  bool holds_kvm = false;  // else it is software emulation, known by its name
  // When the smaps of its processes were read, by the clock of the scan: that
  // costs most, and is not done for each of them.
  uint64_t detail_monotonic_ns = 0;
  GuestRam ram;
  std::vector<VmProcess> processes;  // the monitor first
  std::vector<VmImage> images;       // largest cache first
  GuestAnswer guest;
  bool operator==(const Vm&) const = default;
};

struct VmScan {
  uint64_t started_realtime_ns = 0;
  uint64_t started_monotonic_ns = 0;
  uint64_t ended_monotonic_ns = 0;
  std::vector<Vm> vms;  // by pid
  // Processes whose descriptors may not be listed: one of them could be a VMM
  // under a name we do not know.
  uint64_t unseen_count = 0;
  bool operator==(const VmScan&) const = default;
};

}  // namespace tidemark::model
