// Kinds of memory over time as `top` draws them, of a recording or of the last
// minutes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

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
  uint64_t sum() const;
};

struct TopTimeline {
  std::vector<TopTimelinePoint> points;
  std::vector<size_t> peaks;  // in order of time
  size_t highest = 0;
  uint64_t gap_count = 0;
};

// Highs that stand out: the sum falls behind each of them, and has risen before
// it, by at least a twentieth of the highest. The highest is one of them.
void find_peaks(TopTimeline& timeline);

TopTimeline make_top_timeline(const model::Timeline& timeline,
                              const std::vector<model::RecordedTick>& ticks,
                              const std::vector<model::RecordedGap>& gaps);

}  // namespace tidemark::analysis
