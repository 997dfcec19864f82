// What each VM costs its host, what its guest does with that, and what could
// come back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/vm_split.h"
#include "model/reading.h"
#include "model/vm.h"

namespace tidemark::analysis {

// In stack order.
enum class VmBandKind : uint8_t {
  GuestUsed,
  GuestCaches,
  GuestReserved,
  GuestHeld,     // free in the guest, held by the host
  GuestUnsplit,  // RAM of the guest of which nothing else is known
  Monitor,
  Helper,
  Untold,  // monitor and guest RAM that could not be told apart
};
std::string_view vm_band_token(VmBandKind kind);

struct VmBand {
  VmBandKind kind = VmBandKind::GuestUsed;
  std::string name;   // "guest used", "QEMU itself", "virtiofsd"
  std::string known;  // how: "total - balloon - free - caches"
  uint64_t bytes = 0;
  uint64_t process_count = 0;  // of Monitor and Helper
};

enum class VmFindingKind : uint8_t {
  StatisticsOff,
  StatisticsStale,
  GuestSilent,
  MonitorBusy,
  Unsettled,
  HeldPages,
  Swapped,
  OomKills,
  Merged,
  HugePages,
  Absent,
  CachedTwice,
};
std::string_view vm_finding_token(VmFindingKind kind);

struct VmFinding {
  VmFindingKind kind = VmFindingKind::HeldPages;
  std::string title;    // the evidence, a sentence with its number
  std::string details;  // what would change it
};

struct VmRow {
  model::Vm vm;
  // Bands add up to it; what merging saves is taken off in `cost`.
  model::Amount bands_sum;
  std::vector<VmBand> bands;
  model::Amount cost;
  model::Reading<uint64_t> overhead_bytes;  // monitor and helpers
  model::Reading<uint64_t> helpers_bytes;
  model::Reading<GuestView> guest;
  model::Reading<RamBands> ram_bands;
  model::Reading<uint64_t> never_touched_bytes;  // RAM the host never gave
  uint64_t detail_age_ns = 0;  // since smaps was read, of all it maps
  std::optional<uint64_t> statistics_age_s;
  bool is_stale = false;      // older than the interval allows
  bool is_unsettled = false;  // the balloon moved, the guest has not told yet
  std::optional<bool> deflates_on_oom;
  bool deflation_is_learned = false;
  std::optional<uint64_t> monitor_rss_bytes;  // what other tools show
  std::vector<VmFinding> findings;
};

struct VmReport {
  uint64_t realtime_ns = 0;
  uint64_t read_ns = 0;
  std::vector<VmRow> rows;  // most costly first
  model::Amount cost;
  model::Amount held;  // could come back
  model::Amount configured;
  uint64_t answering_count = 0;
  uint64_t unseen_count = 0;
};

// What the guest was given. The monitor knows what was plugged in since;
// mappings know the rest.
std::optional<uint64_t> configured_bytes(const model::Vm& vm);

// Lives as long as a watch: what samples before have taught. New for each when
// only one is taken.
class VmHistory {
 public:
  BalloonMemory& of(const model::ProcessId& id);

 private:
  std::vector<std::pair<model::ProcessId, BalloonMemory>> memories_;
};

VmReport make_vm_report(model::VmScan scan, VmHistory& history);

}  // namespace tidemark::analysis
