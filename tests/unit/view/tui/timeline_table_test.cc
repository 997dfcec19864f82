#include "view/tui/timeline_table.h"

#include <gtest/gtest.h>

#include "unit/view/tui/top_example.h"

namespace tidemark::view::tui {
namespace {

using model::Category;

constexpr size_t kPeak = 412;

const KindAt* kind_in(const KindsAt& now, Category kind) {
  for (const KindAt& one : now.kinds) {
    if (one.kind == kind) return &one;
  }
  return nullptr;
}

std::string drawn(int columns, const analysis::TopTimeline& timeline,
                  const KindsAt& now) {
  Canvas canvas(columns, 8);
  const Look look;
  TimelineTable(canvas, look, timeline, now).draw(kPeak, 0, 8);
  return canvas.to_text();
}

TEST(KindsAt, SaysWhoseMemoryTheMomentIsMostly) {
  const auto replay = example_replay();
  const KindsAt now = kinds_at(*replay->timeline, kPeak, replay.get());
  EXPECT_TRUE(now.is_whole);
  EXPECT_EQ(now.sum_bytes, replay->timeline->points[kPeak].sum())
      << "both were read at the same moment";
  EXPECT_EQ(now.swap_bytes, 199 * kMb);
  const KindAt* heap = kind_in(now, Category::Heap);
  ASSERT_NE(heap, nullptr);
  EXPECT_EQ(heap->mostly, "osm2pgsql 98 %, python3");
  const KindAt* shared = kind_in(now, Category::Shm);
  ASSERT_NE(shared, nullptr);
  EXPECT_EQ(shared->private_bytes, 0U);
  EXPECT_EQ(shared->mostly, "postgres: checkpointer, postgres: writer");
}

TEST(KindsAt, IsOfThoseAloneThatTheTimelineIsOf) {
  const auto replay = example_replay();
  analysis::TopTimeline timeline = *replay->timeline;
  timeline.chosen.processes = {{41869, 418690}};
  const KindsAt now = kinds_at(timeline, kPeak, replay.get());
  EXPECT_EQ(now.sum_bytes, 49 * kMb);
  EXPECT_EQ(now.kinds.front().mostly, "python3");
}

TEST(KindsAt, KnowsSumsAloneOfMomentsThatHavePassed) {
  const auto timeline = example_timeline();
  const KindsAt now = kinds_at(*timeline, kPeak, nullptr);
  EXPECT_FALSE(now.is_whole);
  EXPECT_EQ(now.sum_bytes, timeline->points[kPeak].sum());
  EXPECT_TRUE(now.kinds.front().mostly.empty());
  const std::string text = drawn(132, *timeline, now);
  EXPECT_EQ(text.find("MOSTLY"), std::string::npos) << text;
  EXPECT_EQ(text.find("PRIVATE"), std::string::npos) << text;
}

TEST(KindsAt, SaysWhatIsNoMoreThanABound) {
  analysis::TopSnapshot replay = *example_replay();
  analysis::TopTimeline timeline = *replay.timeline;
  timeline.points[kPeak].bounded_bytes = timeline.points[kPeak].sum() / 2;
  const KindsAt now = kinds_at(timeline, kPeak, &replay);
  EXPECT_TRUE(now.is_bound);
  for (const KindAt& kind : now.kinds)
    EXPECT_FALSE(kind.growth_bytes) << "its end was not read";
  const std::string text = drawn(132, timeline, now);
  EXPECT_NE(text.find("≤2.41G"), std::string::npos) << text;
}

TEST(KindsAt, CountsOnceWhatProcessesShare) {
  analysis::TopSnapshot replay = *example_replay();
  analysis::TopTimeline timeline = *replay.timeline;
  timeline.points[kPeak].bounded_bytes = timeline.points[kPeak].sum() / 2;
  for (analysis::TopDetail& detail : replay.details) {
    for (analysis::CategoryUse& use : detail.kinds) {
      if (use.category == model::Category::Shm) use.pss_bytes *= 30;
    }
  }
  EXPECT_EQ(kinds_at(timeline, kPeak, &replay).sum_bytes,
            timeline.points[kPeak].sum());
}

TEST(TimelineTable, NamesWhatItHasNoRoomFor) {
  const auto replay = example_replay();
  Canvas canvas(80, 3);
  const Look look;
  const KindsAt now = kinds_at(*replay->timeline, kPeak, replay.get());
  TimelineTable(canvas, look, *replay->timeline, now).draw(kPeak, 0, 3);
  const std::string text = canvas.to_text();
  EXPECT_NE(text.find("2 more"), std::string::npos) << text;
  EXPECT_NE(text.find("anonymous, shared memory"), std::string::npos) << text;
}

}  // namespace
}  // namespace tidemark::view::tui
