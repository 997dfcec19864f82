// Kinds of memory over time as `top` draws them, of a recording or of the last
// minutes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/top_timeline_of.h"
#include "model/category.h"
#include "model/recording.h"
#include "model/timeline.h"

namespace tidemark::analysis {

struct TopTimelinePoint {
  uint64_t elapsed_ns = 0;  // since the first
  // PSS with huge pages; swapped out stands beside it.
  std::array<uint64_t, model::kCategoryCount> kinds{};
  uint64_t swap_bytes = 0;
  bool is_after_gap = false;  // a reading before it was due and did not come
  // Of the sum: what was never divided by those that share it.
  uint64_t bounded_bytes = 0;
  bool is_bound() const { return bounded_bytes > 0; }
  uint64_t sum() const;
};

enum class TopEventKind : uint8_t {
  Start,
  Exec,
  Exit,
  OutOfMemory,  // somebody was killed for it
  Pressure,     // tasks waited for memory a tenth of the time or more
};
struct TopEvent {
  uint64_t elapsed_ns = 0;
  TopEventKind kind = TopEventKind::Start;
  std::string words;  // who: "osm2pgsql (41877)"
};

struct TopTimeline {
  std::string of;  // the process it is of; empty: of all
  TopTimelineOf chosen;
  uint64_t start_ns = 0;  // of the first point, monotonic; of what is live
  std::vector<TopTimelinePoint> points;
  std::vector<size_t> peaks;  // in order of time
  size_t highest = 0;
  uint64_t gap_count = 0;
  std::vector<TopEvent> events;         // in order of time
  std::optional<uint64_t> limit_bytes;  // of the control group it is in
  // How high that group was at its highest, by the kernel; of a recording.
  std::optional<uint64_t> mark_bytes;
};

// Highs that stand out: the sum falls behind each of them, and has risen before
// it, by at least a twentieth of the highest. The highest is one of them.
void find_peaks(TopTimeline& timeline);

TopTimeline make_top_timeline(const model::Timeline& timeline,
                              const std::vector<model::RecordedTick>& ticks,
                              const std::vector<model::RecordedGap>& gaps);

}  // namespace tidemark::analysis
