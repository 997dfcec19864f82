// Memory over time as a picture needs it: few enough ticks, each of them real,
// and bands that add up to the whole at every one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/recording.h"
#include "model/timeline.h"

namespace tidemark::analysis {

// Of the points those to be drawn in so many columns: the lowest and the
// highest of each, also by counters and in a trace, so that no peak is lost;
// indices, rising.
std::vector<size_t> choose_drawn(const model::Timeline& timeline,
                                 const std::vector<model::RecordedTick>& ticks,
                                 size_t column_count);

struct TimelineBand {
  std::string label;
  std::optional<model::Category> category;  // empty: of several kinds
  std::optional<int64_t> process;           // within the recording
  std::optional<int32_t> pid;
  std::string cgroup_path;               // of a process; empty: not known
  uint64_t others_count = 0;             // how many stand behind "others"
  std::vector<model::BandPoint> points;  // as in model::Band
};

enum class TimelineEventKind {
  Appeared,
  Forked,
  Executed,
  Exited,
  SwapBegan,
  OomKilled,
  Missed,
};
std::string_view timeline_event_token(TimelineEventKind kind);

struct TimelineEvent {
  TimelineEventKind kind = TimelineEventKind::Missed;
  uint64_t elapsed_ns = 0;   // since the first tick
  uint64_t duration_ns = 0;  // of what was missed
  uint64_t count = 1;        // ticks missed, pages swapped out, killed
  std::string text;          // whose it is, or why it was missed
};

struct TimelineTick {
  int64_t id = 0;
  uint64_t elapsed_ns = 0;
  uint64_t resident_bytes = 0;  // by the kernel's counters
  uint64_t pss_bytes = 0;
  uint32_t process_count = 0;
  uint32_t undetailed_count = 0;
  uint32_t scanned_count = 0;
  uint64_t bounded_bytes = 0;    // as in model::BandShares
  uint64_t estimated_bytes = 0;  // the same
  std::optional<uint64_t> traced_bytes;
};

// What the kernel charged a control group with, from this one of the drawn
// ticks on.
struct ChargePoint {
  size_t tick_index = 0;
  std::optional<uint64_t> charged_bytes;
  std::optional<uint64_t> peak_bytes;
  std::optional<uint64_t> limit_bytes;  // empty when there is none
  bool operator==(const ChargePoint&) const = default;
};

struct TimelineCharge {
  std::string cgroup_path;
  std::vector<ChargePoint> points;
};

// The group that all processes with memory are in, if it is one and not the
// root: those of several say nothing about the whole. One that is about to end
// has no memory, and is told to be in the root.
std::optional<std::string> only_cgroup(
    const std::vector<model::RecordedProcess>& processes,
    const model::Bands& bands);

struct TimelineReport {
  std::string path;
  std::string targets;
  std::string host;
  std::string kernel;
  uint64_t period_ns = 0;
  uint64_t start_realtime_ns = 0;
  uint64_t tick_count = 0;  // of the recording; fewer are drawn
  uint64_t missed_count = 0;
  uint64_t elapsed_ns = 0;
  std::vector<TimelineTick> ticks;  // that are drawn
  size_t peak_index = 0;            // of them, by PSS
  // Each adds up to the whole at each tick; those after the kinds are empty
  // where they were not asked for.
  std::vector<TimelineBand> kinds;
  std::vector<TimelineBand> processes;  // the largest, then the others
  std::vector<TimelineBand> objects;
  std::vector<TimelineBand> groups;   // control groups
  std::vector<TimelineBand> parts;    // categories of processes
  std::vector<TimelineEvent> events;  // in order of time
  uint64_t untold_event_count = 0;    // beyond what is listed
  std::optional<TimelineCharge> charge;
};

struct TimelineInput {
  std::string path;
  const model::RecordingInfo* info = nullptr;
  const std::vector<model::RecordedTick>* ticks = nullptr;
  const std::vector<model::RecordedProcess>* processes = nullptr;
  const model::Timeline* timeline = nullptr;
  std::vector<size_t> drawn;            // of choose_drawn()
  const model::Bands* bands = nullptr;  // at those; null: kinds alone are told
  std::vector<model::Band> kinds;       // then these
  std::vector<model::RecordedGap> gaps;
  std::vector<TimelineEvent> machine_events;
  std::optional<TimelineCharge> charge;
  size_t band_limit = 100;  // bands of one grouping
};

TimelineReport make_timeline_report(const TimelineInput& input);

}  // namespace tidemark::analysis
