// A command that was run under watch, exactly as observed: who lived, how high
// the tree's memory rose and by whose word, and the picture taken nearest to
// the top. What it means is computed later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/region.h"
#include "model/sample.h"

namespace tidemark::model {

// How the peak of one process is known. The kernel's own marks are flawed, each
// in its way, so the source travels with the number.
enum class PeakSource : uint8_t {
  Counted,   // our own maximum over every change of its page counters
  HighMark,  // taskstats: counted in batches, so up to some 100 KiB low
  MaxRss,    // wait4: includes what it was before exec
  Sampled,   // the highest we happened to see
};
std::string_view peak_source_token(PeakSource source);

struct ProcessLife {
  int32_t pid = 0;
  int32_t parent_pid = 0;  // who forked it, also when it was orphaned later
  std::string comm;
  std::string path;         // as given to exec; of the parent when it never did
  uint64_t started_ns = 0;  // monotonic
  std::optional<uint64_t> ended_ns;        // empty while it lives
  std::optional<int32_t> wait_status;      // as wait() gives it
  std::optional<uint64_t> peak_rss_bytes;  // of its last image
  // Of the images it has replaced by exec.
  std::optional<uint64_t> earlier_peak_rss_bytes;
  PeakSource peak_source = PeakSource::Counted;
  bool has_execed = false;
  // It ran in its parent's address space (vfork) and has none of its own.
  bool shares_space = false;
  // It went to a control group outside of the tree's own, or began in one.
  bool left_group = false;
  bool operator==(const ProcessLife&) const = default;
};

// The processes of the tree with their mappings at one moment, and what the
// group was charged right before and right after.
struct Capture {
  Sample sample;
  std::optional<uint64_t> charged_before_bytes;
  std::optional<uint64_t> charged_after_bytes;
  // What the mappings and `stat` explain, with what is charged ahead of them.
  // Pages that are being unmapped are in no mapping any more and then in no
  // part, but stay charged until they are freed: such a picture shows less than
  // the charge.
  std::optional<uint64_t> accounted_bytes;
  GroupStat stat;
  // Processes shown by a page scan: sizes of that moment, shares (PSS of RSS)
  // as at the last full look.
  uint64_t rescanned_count = 0;
  bool was_frozen = false;   // the whole tree stood still
  bool was_stopped = false;  // the process that grew stood still
};

// What of the charge was surely there all the time the picture was taken, and
// so is the picture's worth; empty without a group.
std::optional<uint64_t> held_bytes(const Capture& capture);

// By which means the tree was watched, best first.
enum class RunMethod : uint8_t {
  ChargeGate,    // own cgroup, BPF wakes us at new highs
  ChargePolled,  // own cgroup, its charge read every millisecond
  RssGate,       // no cgroup: BPF adds up the RSS of the tree
  Sampled,       // neither: RSS of the tree read every few milliseconds
};
std::string_view run_method_token(RunMethod method);

struct HeightPoint {
  uint64_t time_ns = 0;  // monotonic
  uint64_t bytes = 0;
  bool operator==(const HeightPoint&) const = default;
};

// A maximum, when it was reached if that is known, and who says so.
struct Maximum {
  uint64_t bytes = 0;
  std::optional<uint64_t> time_ns;  // monotonic
  std::string source;               // "memory.peak of its own cgroup"
  bool operator==(const Maximum&) const = default;
};

struct WatchCost {
  uint64_t cpu_ns = 0;  // of tidemark, while the command ran
  uint64_t capture_count = 0;
  uint64_t capture_ns = 0;  // wall time spent in captures
  uint64_t longest_capture_ns = 0;
  uint64_t stopped_ns = 0;  // time something of the tree stood still for us
  uint64_t stop_count = 0;
  std::optional<uint64_t> bpf_ns;  // run time of the BPF programs, if asked for
};

struct RunRecord {
  std::vector<std::string> command;
  int32_t root_pid = 0;
  uint64_t started_realtime_ns = 0;
  uint64_t started_ns = 0;  // monotonic
  uint64_t ended_ns = 0;
  int32_t wait_status = 0;
  // wait4's word on the largest single process of those it waited for; includes
  // what they were before exec.
  uint64_t command_max_rss_bytes = 0;
  RunMethod method = RunMethod::Sampled;
  std::vector<std::string> method_notes;  // why it is not a better one

  std::optional<Maximum> charge;  // watermark of the private group
  std::optional<Maximum> rss;     // of the sum over the tree
  std::optional<Maximum> pss;     // of the captures
  std::optional<Maximum> swap;    // beside it
  std::optional<Maximum> hugetlb;

  std::optional<Capture> capture;  // the one nearest to the peak
  std::vector<DeviceNumber> memory_devices;
  std::vector<ProcessLife> lives;  // in order of their end, the living last
  uint64_t unlisted_count = 0;     // more than we keep
  uint64_t lost_count = 0;         // ended without a record
  bool lists_every_process = false;
  // Highest overshoot a peak above 64 MiB may hide: counters come in batches.
  uint64_t peak_error_bytes = 0;
  uint64_t left_running_count = 0;
  std::vector<HeightPoint> history;
  uint64_t page_size_bytes = 4096;
  WatchCost cost;
};

}  // namespace tidemark::model
