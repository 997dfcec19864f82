// What `top` shows of one moment, live or recorded. It is made whole by the
// thread that reads and never changes again, so the thread that draws needs no
// lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/maps_report.h"
#include "analysis/process_use.h"
#include "analysis/ps_report.h"
#include "analysis/system_report.h"
#include "analysis/top_growth.h"
#include "analysis/top_history.h"
#include "analysis/top_mappings.h"
#include "analysis/top_slow.h"
#include "analysis/top_timeline.h"
#include "analysis/top_trace.h"
#include "model/sample.h"

namespace tidemark::analysis {

// What is known of a process beyond the sample; parallel to its processes.
struct TopDetail {
  std::optional<uint64_t> read_ns;  // monotonic: when its mappings were read
  std::vector<CategoryUse> kinds;   // best values, of now
  // shared_ptr: snapshots share them until they are read anew.
  std::shared_ptr<const std::vector<TopMapping>> largest;
  // Those kinds that have grown in the last minutes, where they are known.
  std::vector<KindGrowth> grown;
  // Some of it was never read in full: of that only a bound is known, its
  // resident pages.
  bool is_bound = false;
};

struct TopRecording {
  std::string path;
  uint64_t bytes = 0;
};

// Where in a recording it is.
struct TopPlayback {
  size_t tick_index = 0;  // into the points of the timeline
  uint64_t elapsed_ns = 0;
  uint64_t end_ns = 0;
  uint64_t oldest_detail_ns = 0;  // how long before it PSS was read
  bool is_playing = false;
  double speed = 1;
};

struct TopSnapshot {
  std::string target;  // host, process or file, in words
  uint64_t period_ns = 0;
  // Every process of the machine is in it: only then it closes to all RAM.
  bool has_all_processes = true;
  // Processes have the rollup that was read last, and no mappings.
  model::Sample sample;
  std::vector<TopDetail> details;
  std::vector<UserLabel> users;
  std::optional<TopMachine> machine;
  // Shared by many snapshots: it changes once in several seconds, and copying
  // that of 5,000 processes each second would cost more than reading them.
  std::shared_ptr<const TopHistory> history;
  // Shared memory objects and slab caches that have grown in that time.
  std::vector<TopGrower> growers;
  // Of a recording all of it, else the same minutes.
  std::shared_ptr<const TopTimeline> timeline;
  // What we cost: of a core since the last snapshot, in millionths, and RAM.
  std::optional<uint64_t> own_cpu_millionths;
  std::optional<uint64_t> own_bytes;
  std::optional<TopRecording> recording;
  std::optional<TopPlayback> playback;  // empty: live
  std::string note;  // the last thing the reader wanted to be known
  // The address space that was asked for, once it was read.
  std::shared_ptr<const MapsReport> maps;
  std::string maps_failure;  // why it was not
  TopSlow slow;              // what is read less often than the rest
  // Page allocations, where they are followed; null before the first reading.
  std::shared_ptr<const TopTrace> trace;
  Tracing tracing = Tracing::None;
};

}  // namespace tidemark::analysis
