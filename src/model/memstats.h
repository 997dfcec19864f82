// What crosvm's memstats collector writes down once a second: the totals of the
// virtual machine's processes, and what its balloon tells of the guest.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/smaps_fields.h"
#include "model/vm.h"

namespace tidemark::model {

struct MemstatsProcess {
  int32_t pid = 0;
  std::string name;
  SmapsFields totals;
  bool operator==(const MemstatsProcess&) const = default;
};

// By the names of the file, memory in bytes.
inline constexpr std::array<std::string_view, 12> kBalloonNames = {
    "swap_in",          "swap_out",      "major_faults",
    "minor_faults",     "free_memory",   "total_memory",
    "available_memory", "disk_caches",   "hugetlb_allocations",
    "hugetlb_failures", "shared_memory", "unevictable_memory",
};

// The same in a guest's answer.
inline constexpr std::array<GuestField, kBalloonNames.size()> kBalloonFields = {
    GuestField::SwapIn,
    GuestField::SwapOut,
    GuestField::MajorFaults,
    GuestField::MinorFaults,
    GuestField::Free,
    GuestField::Total,
    GuestField::Available,
    GuestField::Caches,
    GuestField::HugetlbAllocations,
    GuestField::HugetlbFailures,
    GuestField::Shared,
    GuestField::Unevictable,
};

struct BalloonStats {
  std::array<std::optional<uint64_t>, kBalloonNames.size()> values;
  uint64_t balloon_bytes = 0;  // taken from the guest
  bool operator==(const BalloonStats&) const = default;
};

struct MemstatsRecord {
  uint64_t elapsed_seconds = 0;  // since collecting began; no clock is kept
  std::vector<MemstatsProcess> processes;
  std::optional<BalloonStats> balloon;  // empty: the monitor did not answer
  bool operator==(const MemstatsRecord&) const = default;
};

}  // namespace tidemark::model
