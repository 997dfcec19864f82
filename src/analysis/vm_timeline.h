// VMs over time as a picture needs them: what each cost its host and of what,
// at few enough moments, each of them real. Every VM has moments of its own:
// the peak of one is nothing special to the others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/vm_report.h"
#include "model/vm.h"

namespace tidemark::analysis {

// One part of a VM, a value for each of its drawn ticks. Empty where it is not
// known or the VM was not there; those that are known add up to what is
// stacked.
struct VmTimelineBand {
  VmBandKind kind = VmBandKind::GuestUsed;
  std::string name;
  std::string known;
  std::vector<std::optional<uint64_t>> bytes;
};

struct VmTick {
  uint64_t elapsed_ns = 0;              // since the first scan
  std::optional<uint64_t> bands_bytes;  // what the bands add up to
  std::optional<uint64_t> cost_bytes;
  bool is_lower_bound = false;  // a process could not be read
  std::optional<uint64_t> held_bytes;
  std::optional<uint64_t> limit_bytes;  // guest total - balloon
  std::optional<uint64_t> rss_bytes;  // of the monitor, as other tools show it
  std::optional<uint64_t> balloon_bytes;
  std::optional<uint64_t> configured_bytes;
  std::optional<uint64_t> swapped_bytes;  // guest RAM, by the host
};

// Why something of a VM is not known for a while.
enum class VmSpanKind : uint8_t {
  Absent,     // the VM was not there
  Unread,     // memory of a process of it could not be read
  Unsettled,  // balloon and statistics are of different moments
  Stale,      // the guest has not told for too long
  Untold,     // the guest did not tell, or not enough
};
inline constexpr size_t kVmSpanKindCount = 5;
std::string_view vm_span_token(VmSpanKind kind);

// Of all scans, drawn or not. It ends where the next scan knew better, unless
// it lasts: then it holds at the end, too.
struct VmSpan {
  VmSpanKind kind = VmSpanKind::Absent;
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
  std::string because;
  bool lasts = false;
  bool operator==(const VmSpan&) const = default;
};

// What was found from this drawn tick on, until the next.
struct VmFindings {
  size_t tick_index = 0;
  std::vector<VmFinding> findings;
};

struct VmCourse {
  VmRow last;  // as it was seen last
  std::vector<VmTick> ticks;
  std::vector<VmTimelineBand> bands;  // in stack order
  std::vector<VmSpan> spans;          // by their begin
  std::vector<VmFindings> findings;
  size_t peak_index = 0;  // of the ticks, by what is stacked
};

// All VMs together, at moments of their own.
struct VmTotalTick {
  uint64_t elapsed_ns = 0;
  model::Amount cost;
  model::Amount held;
  model::Amount configured;
  uint64_t vm_count = 0;
  uint64_t answering_count = 0;
};

struct VmTimeline {
  std::string path;  // of the file it is of; empty: of now
  uint64_t start_realtime_ns = 0;
  uint64_t elapsed_ns = 0;
  uint64_t scan_count = 0;    // fewer are drawn
  uint64_t unseen_count = 0;  // of the last scan
  std::vector<VmTotalTick> total;
  std::vector<VmCourse> vms;  // that with the highest peak first
};

struct VmTimelineOptions {
  // Three ticks of each: more than most screens have pixels for. Many VMs have
  // fewer, so that the whole stays a page.
  size_t column_count = 700;
  size_t least_column_count = 100;
};

// The scans in the order of their time; a VM is known again by its monitor.
VmTimeline make_vm_timeline(std::span<const model::VmScan> scans,
                            const VmTimelineOptions& options = {});

}  // namespace tidemark::analysis
