// What a recording tells about itself and its processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/category.h"
#include "model/process.h"
#include "model/sample.h"
#include "model/smaps_fields.h"
#include "model/trace.h"

namespace tidemark::model {

// Written once, when the recording is made.
struct RecordingInfo {
  std::string tool;     // "tidemark 0.1.0"
  std::string targets;  // in words: "osm2pgsql (41877) and its descendants"
  std::string budget;   // in words; empty for none
  std::string host;
  std::string kernel;
  std::string boot_id;
  std::string origin;  // what it was imported from; empty when recorded
  uint64_t page_size_bytes = 4096;
  uint64_t ticks_per_second = 100;  // of start times
  uint64_t period_ns = 0;           // 0: single samples
  // Not every kernel prints every field; those not listed are unknown.
  std::vector<SmapsField> smaps_fields;
  bool operator==(const RecordingInfo&) const = default;
};

// A moment at which something was read.
struct RecordedTick {
  int64_t id = 0;  // counts from 0; where detail was thinned, with gaps
  bool is_new_high = false;
  uint64_t realtime_ns = 0;
  uint64_t monotonic_ns = 0;
  uint64_t read_ns = 0;
  // How many ticks ago the mappings were read that were read longest ago, and
  // of how many processes they never were.
  uint64_t oldest_detail_ticks = 0;
  uint64_t undetailed_count = 0;
  uint64_t scanned_count = 0;      // processes whose pages were only scanned
  std::optional<uint64_t> cpu_ns;  // of the recorder, since it began
  bool operator==(const RecordedTick&) const = default;
};

struct RecordedGap {
  int64_t before_tick = 0;
  MissedTick missed;
  bool operator==(const RecordedGap&) const = default;
};

// A process under one name: exec and rename begin a new one.
struct RecordedImage {
  int64_t from_tick = 0;
  int32_t parent_pid = 0;
  std::string comm;
  std::string executable;
  std::string command_line;  // arguments parted by NUL
  std::string cgroup_path;
  std::optional<uint32_t> user_id;
  int64_t image = 0;  // counts the execs we noticed
  bool operator==(const RecordedImage&) const = default;
};

struct RecordedProcess {
  int64_t id = 0;  // within the recording
  ProcessId process;
  int64_t first_tick = 0;
  std::optional<int64_t> gone_at_tick;
  std::vector<RecordedImage> images;  // never empty
  bool operator==(const RecordedProcess&) const = default;
};

// The highest of one process: as sampled, and as the kernel remembers it.
struct ProcessMaxima {
  int64_t process = 0;
  std::optional<uint64_t> resident_bytes;
  std::optional<uint64_t> high_mark_bytes;  // VmHWM
  // The same when it was first read: a mark that never rose since was set
  // before the recording began.
  std::optional<uint64_t> first_high_mark_bytes;
  bool operator==(const ProcessMaxima&) const = default;
};

// What a recording holds of a trace of page allocations.
struct RecordedTrace {
  TraceBackend backend = TraceBackend::Bpf;
  int64_t first_tick = 0;
  int64_t last_tick = 0;
  uint64_t tick_count = 0;
  uint64_t elapsed_ns = 0;
  uint64_t page_size_bytes = 4096;
  uint64_t sample_period = 1;
  uint64_t stack_count = 0;
  uint64_t task_count = 0;
  uint64_t leaf_count = 0;
  uint64_t pages = 0;  // at the end
  uint64_t peak_pages = 0;
  TraceFaults faults;
  bool operator==(const RecordedTrace&) const = default;
};

// What a recording holds of virtual machines.
struct RecordedVms {
  int64_t first_tick = 0;
  int64_t last_tick = 0;
  uint64_t tick_count = 0;  // in which they were read
  uint64_t vm_count = 0;    // that ever were
  bool operator==(const RecordedVms&) const = default;
};

struct RecordedNote {
  int64_t tick = 0;
  std::optional<int64_t> process;
  std::string text;
  bool operator==(const RecordedNote&) const = default;
};

}  // namespace tidemark::model
