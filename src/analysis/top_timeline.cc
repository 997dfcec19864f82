#include "analysis/top_timeline.h"

#include <algorithm>
#include <set>

namespace tidemark::analysis {

uint64_t TopTimelinePoint::sum() const {
  uint64_t all = 0;
  for (uint64_t bytes : kinds)
    all += bytes;
  return all;
}

void find_peaks(TopTimeline& timeline) {
  timeline.peaks.clear();
  timeline.highest = 0;
  const std::vector<TopTimelinePoint>& points = timeline.points;
  if (points.empty()) return;
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i].sum() > points[timeline.highest].sum()) timeline.highest = i;
  }
  const uint64_t least = points[timeline.highest].sum() / 20;
  size_t high = 0;
  uint64_t low = points[0].sum();
  bool is_rising = true;
  for (size_t i = 0; i < points.size(); ++i) {
    const uint64_t now = points[i].sum();
    if (is_rising) {
      if (now > points[high].sum()) high = i;
      if (now + least < points[high].sum()) {
        timeline.peaks.push_back(high);
        is_rising = false;
        low = now;
      }
    } else {
      low = std::min(low, now);
      if (now > low + least) {
        is_rising = true;
        high = i;
      }
    }
  }
  // A rise that the recording ends in has its high at its end.
  if (is_rising) timeline.peaks.push_back(high);
  auto& peaks = timeline.peaks;
  if (!std::ranges::binary_search(peaks, timeline.highest)) {
    peaks.insert(std::ranges::lower_bound(peaks, timeline.highest),
                 timeline.highest);
  }
}

TopTimeline make_top_timeline(const model::Timeline& timeline,
                              const std::vector<model::RecordedTick>& ticks,
                              const std::vector<model::RecordedGap>& gaps) {
  TopTimeline out;
  std::set<int64_t> gaps_before;
  for (const model::RecordedGap& gap : gaps) {
    gaps_before.insert(gap.before_tick);
    out.gap_count += gap.missed.count;
  }
  const size_t count = std::min(ticks.size(), timeline.points.size());
  for (size_t i = 0; i < count; ++i) {
    TopTimelinePoint point;
    point.elapsed_ns = ticks[i].monotonic_ns - ticks.front().monotonic_ns;
    const model::TimelinePoint& read = timeline.points[i];
    point.bounded_bytes = read.bounded_bytes;
    point.kinds = read.category_pss_bytes;
    point.swap_bytes = read.swap_bytes;
    point.is_after_gap = gaps_before.contains(ticks[i].id);
    out.points.push_back(point);
  }
  find_peaks(out);
  return out;
}

}  // namespace tidemark::analysis
