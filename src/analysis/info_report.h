// The report of `info`: what a recording holds and how well it was made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trend.h"
#include "model/recording.h"
#include "model/run.h"
#include "model/timeline.h"

namespace tidemark::analysis {

struct InfoTable {
  std::string name;
  uint64_t row_count = 0;
  std::optional<uint64_t> bytes;
};

// Remarks of the same kind, once.
struct InfoNote {
  std::string text;
  uint64_t count = 0;
  uint64_t first_elapsed_ns = 0;
  std::string process;  // the first it is about; empty: none
};

struct InfoReport {
  std::string path;
  uint64_t file_bytes = 0;
  bool is_open = false;  // it has a log: being written, or cut off
  model::RecordingInfo info;
  model::RecordedTick first;
  model::RecordedTick last;
  uint64_t tick_count = 0;
  uint64_t thinned_count = 0;        // were recorded and made room since
  std::vector<uint64_t> elapsed_ns;  // of each tick
  uint64_t new_high_count = 0;
  uint64_t missed_count = 0;
  std::vector<std::pair<std::string, uint64_t>> missed_reasons;
  uint64_t read_ns = 0;
  uint64_t longest_read_ns = 0;
  std::optional<uint64_t> cpu_ns;    // that recording took
  uint64_t oldest_detail_ticks = 0;  // ever
  uint64_t stale_tick_count = 0;     // with detail from before
  uint64_t bounded_tick_count = 0;   // with processes never read in full
  std::vector<model::RecordedProcess> processes;
  uint64_t living_count = 0;  // at the end
  std::vector<model::ProcessMaxima> maxima;
  std::vector<InfoNote> notes;
  std::vector<InfoTable> tables;
  std::optional<model::RecordedTrace> trace;
  std::optional<model::RecordedVms> vms;
  std::vector<Trend> growing;
  model::Timeline timeline;

  // What the trace takes of the file, where SQLite can tell.
  std::optional<uint64_t> trace_bytes() const;
  uint64_t span_ns() const { return last.monotonic_ns - first.monotonic_ns; }
};

struct InfoInput {
  const model::RecordingInfo* info = nullptr;
  const std::vector<model::RecordedTick>* ticks = nullptr;
  const std::vector<model::RecordedProcess>* processes = nullptr;
  std::vector<model::RecordedGap> gaps;
  std::vector<model::RecordedNote> notes;
};

// How high it was at each tick: PSS, by its best value.
struct InfoHeights {
  std::vector<model::HeightPoint> points;  // since the first tick
  size_t top = 0;                          // the highest of them
  bool is_bound = false;  // PSS was no more than that; how much is not known
  bool is_estimated = false;
  const model::HeightPoint& highest() const { return points[top]; }
};

// Empty when no memory was seen, or the timeline was not filled.
std::optional<InfoHeights> heights_of(const InfoReport& report);

// Fills all but path, sizes, maxima, timeline, trace, VMs and trends.
InfoReport make_info_report(const InfoInput& input);

}  // namespace tidemark::analysis
