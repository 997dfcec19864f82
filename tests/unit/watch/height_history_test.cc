#include "watch/height_history.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace tidemark::watch {
namespace {

using model::HeightPoint;
using Points = std::vector<HeightPoint>;

constexpr uint64_t kFirst = 1000;
constexpr uint64_t kStretch = 10;

HeightHistory history(size_t point_limit) {
  return {kFirst, kStretch, point_limit};
}

TEST(HeightHistory, OfNothingIsEmpty) {
  EXPECT_EQ(history(4).points(), Points());
}

TEST(HeightHistory, APointStandsAtTheMiddleOfItsStretch) {
  HeightHistory made = history(4);
  made.add(1000, 7);
  made.add(1019, 8);
  EXPECT_EQ(made.points(), (Points{{1005, 7}, {1015, 8}}));
}

TEST(HeightHistory, KeepsTheHighestOfAStretch) {
  HeightHistory made = history(4);
  for (uint64_t bytes : {uint64_t{3}, uint64_t{9}, uint64_t{5}})
    made.add(1000 + bytes, bytes);
  EXPECT_EQ(made.points(), (Points{{1005, 9}}));
}

TEST(HeightHistory, LeavesOutWhatNobodyLookedAt) {
  HeightHistory made = history(4);
  made.add(1000, 7);
  made.add(1030, 8);
  EXPECT_EQ(made.points(), (Points{{1005, 7}, {1035, 8}}));
}

TEST(HeightHistory, AZeroThatWasSeenIsAPoint) {
  HeightHistory made = history(4);
  made.add(1000, 0);
  EXPECT_EQ(made.points(), (Points{{1005, 0}}));
}

TEST(HeightHistory, JoinsNeighboursWhenThereAreTooMany) {
  HeightHistory made = history(4);
  for (uint64_t i = 0; i < 4; ++i)
    made.add(kFirst + i * kStretch, i + 1);
  made.add(kFirst + 4 * kStretch, 5);
  EXPECT_EQ(made.points(), (Points{{1010, 2}, {1030, 4}, {1050, 5}}));
  EXPECT_EQ(made.stretch_ns(), 2 * kStretch);
}

TEST(HeightHistory, AnEventOfThePastFindsItsStretch) {
  HeightHistory made = history(4);
  made.add(1035, 1);
  made.add(1004, 9);
  EXPECT_EQ(made.points(), (Points{{1005, 9}, {1035, 1}}));
}

TEST(HeightHistory, ATimeBeforeTheStartCountsAsTheStart) {
  HeightHistory made = history(4);
  made.add(12, 9);
  EXPECT_EQ(made.points(), (Points{{1005, 9}}));
}

TEST(HeightHistory, AWeekFitsAsWellAsASecond) {
  HeightHistory made(0, 5'000'000, 240);
  const uint64_t week_ns = 7 * 86400 * uint64_t{1'000'000'000};
  made.add(0, 1);
  made.add(week_ns, 2);
  EXPECT_EQ(made.points().size(), 2U);
  EXPECT_LE(week_ns / made.stretch_ns(), 240U);
}

// ---- properties -------------------------------------------------------------

Points random_points() {
  const rc::Gen<HeightPoint> point = rc::gen::build<HeightPoint>(
      rc::gen::set(&HeightPoint::time_ns,
                   rc::gen::inRange<uint64_t>(kFirst, kFirst + 100'000)),
      rc::gen::set(&HeightPoint::bytes, rc::gen::arbitrary<uint64_t>()));
  return *rc::gen::nonEmpty(rc::gen::container<Points>(point));
}

HeightHistory filled_with(const Points& added, size_t point_limit) {
  HeightHistory made = history(point_limit);
  for (const HeightPoint& point : added)
    made.add(point.time_ns, point.bytes);
  return made;
}

RC_GTEST_PROP(HeightHistoryProperty, NeverHoldsMoreThanItsLimit, ()) {
  const size_t limit = *rc::gen::inRange<size_t>(1, 64);
  RC_ASSERT(filled_with(random_points(), limit).points().size() <= limit);
}

RC_GTEST_PROP(HeightHistoryProperty, TheMaximumSurvivesEveryJoin, ()) {
  const Points added = random_points();
  const Points kept =
      filled_with(added, *rc::gen::inRange<size_t>(1, 64)).points();
  RC_ASSERT(std::ranges::max(kept, {}, &HeightPoint::bytes).bytes ==
            std::ranges::max(added, {}, &HeightPoint::bytes).bytes);
}

// Whatever was joined on the way, the end is the same as if the last stretch
// had been known from the beginning.
RC_GTEST_PROP(HeightHistoryProperty, EachPointIsTheMaximumOfItsStretch, ()) {
  const Points added = random_points();
  const HeightHistory made =
      filled_with(added, *rc::gen::inRange<size_t>(1, 64));
  for (const HeightPoint& point : made.points()) {
    const uint64_t from = point.time_ns - made.stretch_ns() / 2;
    uint64_t highest = 0;
    for (const HeightPoint& one : added) {
      if (one.time_ns < from || one.time_ns >= from + made.stretch_ns()) {
        continue;
      }
      highest = std::max(highest, one.bytes);
    }
    RC_ASSERT(point.bytes == highest);
  }
}

RC_GTEST_PROP(HeightHistoryProperty, TimesAscend, ()) {
  const Points kept =
      filled_with(random_points(), *rc::gen::inRange<size_t>(1, 64)).points();
  RC_ASSERT(std::ranges::adjacent_find(kept, [](const auto& a, const auto& b) {
              return a.time_ns >= b.time_ns;
            }) == kept.end());
}

}  // namespace
}  // namespace tidemark::watch
