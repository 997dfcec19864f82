#include "analysis/top_timeline.h"

#include <gtest/gtest.h>

namespace tidemark::analysis {
namespace {

TopTimeline timeline(const std::vector<uint64_t>& sums) {
  TopTimeline made;
  for (size_t i = 0; i < sums.size(); ++i) {
    TopTimelinePoint point;
    point.elapsed_ns = i;
    point.kinds[0] = sums[i];
    made.points.push_back(point);
  }
  find_peaks(made);
  return made;
}

TEST(FindPeaks, FindsHighsThatStandOut) {
  EXPECT_EQ(timeline({0, 50, 100, 40, 80, 20}).peaks,
            (std::vector<size_t>{2, 4}));
}

TEST(FindPeaks, PassesOverFlicker) {
  EXPECT_EQ(timeline({0, 50, 98, 100, 97, 99, 40}).peaks,
            (std::vector<size_t>{3}));
}

TEST(FindPeaks, EndsWithARise) {
  EXPECT_EQ(timeline({0, 100, 20, 60}).peaks, (std::vector<size_t>{1, 3}));
}

TEST(FindPeaks, HasTheHighestAlsoWhereNothingFalls) {
  EXPECT_EQ(timeline({5, 5, 5}).peaks, (std::vector<size_t>{0}));
  EXPECT_TRUE(timeline({}).peaks.empty());
}

TEST(TopTimeline, SaysWhatIsNoMoreThanABound) {
  constexpr auto kHeap = static_cast<size_t>(model::Category::Heap);
  model::Timeline recorded;
  recorded.points.resize(2);
  recorded.points[0].category_pss_bytes[kHeap] = 60;
  recorded.points[1].category_pss_bytes[kHeap] = 70;
  recorded.points[1].bounded_bytes = 70;
  const TopTimeline made =
      make_top_timeline(recorded, std::vector<model::RecordedTick>(2), {});
  EXPECT_EQ(made.points[0].sum(), 60U);
  EXPECT_FALSE(made.points[0].is_bound());
  EXPECT_EQ(made.points[1].sum(), 70U);
  EXPECT_TRUE(made.points[1].is_bound());
}

TEST(TopTimeline, MarksPointsBehindAGap) {
  model::Timeline recorded;
  recorded.points.resize(2);
  std::vector<model::RecordedTick> ticks(2);
  ticks[1].id = 1;
  ticks[1].monotonic_ns = 7;
  model::RecordedGap gap;
  gap.before_tick = 1;
  gap.missed.count = 3;
  const TopTimeline made = make_top_timeline(recorded, ticks, {gap});
  EXPECT_FALSE(made.points[0].is_after_gap);
  EXPECT_TRUE(made.points[1].is_after_gap);
  EXPECT_EQ(made.points[1].elapsed_ns, 7U);
  EXPECT_EQ(made.gap_count, 3U);
}

}  // namespace
}  // namespace tidemark::analysis
