// The report of `peak`: the highest moment of a recording and what it was made
// of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/composition.h"
#include "analysis/trend.h"
#include "model/recording.h"
#include "model/timeline.h"

namespace tidemark::analysis {

enum class PeakMetric {
  Pss,
  Rss,
  Statm,              // the kernel's counter of resident pages
  Available,          // of the machine: the least, as the kernel estimates it
  AvailableComputed,  // the same by memory-watcher's formula
};
std::string_view peak_metric_name(PeakMetric metric);
bool is_of_machine(PeakMetric metric);

// The first tick at which the metric was highest (least, of availability).
// Empty when no tick knows it.
std::optional<size_t> find_peak(const model::Timeline& timeline,
                                PeakMetric metric);

struct PeakRow {
  model::Category category = model::Category::Anon;
  std::string name;           // of one object; empty for a whole category
  uint64_t others_count = 0;  // the row of the objects not named
  Bytes bytes;
  std::optional<int64_t> change_bytes;  // of PSS, since `change_since`
};

// A mark the kernel kept that stands above what was sampled.
struct PeakMark {
  std::string label;  // "VmHWM of osm2pgsql (41877)"
  uint64_t bytes = 0;
  uint64_t sampled_bytes = 0;
  bool is_group = false;
  bool is_older = false;  // set before the recording began
};

struct PeakReport {
  std::string path;
  std::string targets;
  PeakMetric metric = PeakMetric::Pss;
  bool is_asked_moment = false;  // --at, not the peak
  model::RecordedTick tick;
  uint64_t tick_count = 0;
  uint64_t elapsed_ns = 0;
  model::TimelinePoint point;
  std::vector<PeakRow> rows;  // add up to composition.total
  // Of the whole, by the same means on both sides. A row has none where some
  // process was read in full at one end alone.
  std::optional<int64_t> change_bytes;
  bool is_change_by_counters = false;  // in part: RSS where shares are unknown
  Composition composition;
  std::optional<uint64_t> change_since_ns;  // how long before; empty: no column
  std::vector<PeakMark> marks;
  std::vector<Trend> growing;
  std::optional<model::Machine> machine;
};

// What their control group had when the recording began, its mark then, and the
// highest mark of all ticks: it may have been set after the peak that was seen,
// by what no sample saw.
struct GroupMarks {
  std::optional<uint64_t> first_mark_bytes;
  std::optional<uint64_t> highest_mark_bytes;
  std::optional<uint64_t> first_charged_bytes;
  // Each reading of the group, in order of time.
  void add(const model::Cgroup& group);

 private:
  bool has_first_ = false;
};
// The highest mark, where the recorded processes have set it: not others that
// the group had far more of from the beginning, and not before the recording.
std::optional<uint64_t> own_group_mark(const GroupMarks& marks,
                                       uint64_t first_seen_bytes);

struct PeakInput {
  std::string path;
  const model::RecordingInfo* info = nullptr;
  const std::vector<model::RecordedTick>* ticks = nullptr;
  const std::vector<model::RecordedProcess>* processes = nullptr;
  const model::Timeline* timeline = nullptr;  // null for an asked moment
  PeakMetric metric = PeakMetric::Pss;
  bool is_asked_moment = false;
  size_t tick_index = 0;
  const model::Sample* sample = nullptr;   // at it
  const model::Sample* earlier = nullptr;  // some time before; may be null
  size_t earlier_index = 0;
  std::vector<model::ProcessMaxima> maxima;  // of the chosen processes
  GroupMarks group;
  std::vector<Trend> growing;
  size_t row_limit = 20;  // objects with a row of their own
};

PeakReport make_peak_report(const PeakInput& input);

// As it was called last: "osm2pgsql (41877)".
std::string recorded_name(const model::RecordedProcess& process);

// The control group that all processes of a sample are in; empty where they are
// in several, or in the one that everybody is in.
std::optional<std::string> common_group(const model::Sample& sample);

}  // namespace tidemark::analysis
