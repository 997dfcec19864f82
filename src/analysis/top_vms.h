// VMs as `top` shows them: the last report, and what each was made of over the
// last minutes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/vm_report.h"

namespace tidemark::analysis {

inline constexpr size_t kVmBandKindCount = 8;

struct TopVmPoint {
  uint64_t time_ns = 0;  // monotonic
  std::array<uint64_t, kVmBandKindCount> bytes{};
};

// By the monitor's pid and start time.
using TopVmHistory =
    std::map<std::pair<int32_t, uint64_t>, std::vector<TopVmPoint>>;

struct TopVms {
  bool has_any = false;  // there are some, or have been
  VmReport report;
  TopVmHistory history;
};

// Adds what the report says of each VM; forgets VMs that are gone, and points
// older than `span_ns`.
void add_vm_points(const VmReport& report, uint64_t time_ns, uint64_t span_ns,
                   TopVmHistory& history);

}  // namespace tidemark::analysis
