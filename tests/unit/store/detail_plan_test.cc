#include "store/detail_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace tidemark::store {
namespace {

using model::DetailTier;

TEST(DetailPlan, KnowsNothingBeforeTheFirstReading) {
  DetailPlan plan;
  EXPECT_FALSE(plan.last(5));
  plan.add(10, DetailTier::Full, 1);
  EXPECT_FALSE(plan.last(9));
  EXPECT_EQ(plan.last(10), (DetailReading{10, DetailTier::Full}));
}

TEST(DetailPlan, FindsTheLastTickThatWasDue) {
  DetailPlan plan;
  plan.add(10, DetailTier::Full, 4);
  EXPECT_EQ(plan.last(13)->tick, 10);
  EXPECT_EQ(plan.last(14)->tick, 14);
  EXPECT_EQ(plan.last(1001)->tick, 998);
}

TEST(DetailPlan, SkipsTicksThatWereDueAndNotRead) {
  DetailPlan plan;
  plan.add(0, DetailTier::Full, 1);
  for (int64_t tick = 3; tick < 8; ++tick)
    plan.add(tick, DetailTier::Counters, 0);
  EXPECT_EQ(plan.last(2)->tick, 2);
  EXPECT_EQ(plan.last(7)->tick, 2);
  EXPECT_EQ(plan.last(8)->tick, 8);
}

TEST(DetailPlan, CountsAReadingOutOfTurn) {
  DetailPlan plan;
  plan.add(0, DetailTier::Full, 8);
  plan.add(3, DetailTier::Full, 0);
  EXPECT_EQ(plan.last(2)->tick, 0);
  EXPECT_EQ(plan.last(7)->tick, 3);
  EXPECT_EQ(plan.last(8)->tick, 8);
}

TEST(DetailPlan, FollowsAChangeOfPlan) {
  DetailPlan plan;
  plan.add(0, DetailTier::Full, 8);
  plan.add(5, DetailTier::Scan, 2);
  EXPECT_EQ(plan.last(4)->tick, 0);
  EXPECT_EQ(plan.last(6), (DetailReading{5, DetailTier::Scan}));
  EXPECT_EQ(plan.last(8), (DetailReading{7, DetailTier::Scan}));
}

TEST(DetailPlan, EndsWithAPlanToReadNothing) {
  DetailPlan plan;
  plan.add(0, DetailTier::Full, 2);
  plan.add(5, DetailTier::Counters, 1);
  EXPECT_EQ(plan.last(4)->tick, 4);
  EXPECT_EQ(plan.last(500)->tick, 4);
  plan.add(600, DetailTier::Full, 1);
  EXPECT_EQ(plan.last(599)->tick, 4);
  EXPECT_EQ(plan.last(601)->tick, 601);
}

// Rows out of a damaged file: any answer, but one.
TEST(DetailPlan, AnswersWhateverRowsItHolds) {
  rc::check([] {
    const auto number = rc::gen::oneOf(rc::gen::arbitrary<int64_t>(),
                                       rc::gen::inRange<int64_t>(-3, 60));
    DetailPlan plan;
    const auto count = *rc::gen::inRange(0, 6);
    for (int i = 0; i < count; ++i) {
      plan.add(*number, static_cast<DetailTier>(*rc::gen::inRange(0, 3)),
               *number);
    }
    (void)plan.last(*number);
  });
}

// A recorder's own rows: a plan, exceptions to it, another plan.
TEST(DetailCursor, AnswersAsThePlanDoesTickAfterTick) {
  const bool holds = rc::check([] {
    DetailPlan plan;
    int64_t tick = *rc::gen::inRange<int64_t>(0, 5);
    const auto count = *rc::gen::inRange(0, 12);
    for (int i = 0; i < count; ++i) {
      plan.add(tick, static_cast<DetailTier>(*rc::gen::inRange(0, 3)),
               *rc::gen::element<int64_t>(0, 0, 0, 1, 2, 4, 8));
      tick += *rc::gen::inRange<int64_t>(1, 9);
    }
    DetailCursor cursor(plan);
    for (int64_t at = 0; at < tick + 20; ++at) {
      const std::optional<DetailReading> expected = plan.last(at);
      const int64_t found = cursor.last(at).value_or(-1);
      RC_ASSERT(found == (expected ? expected->tick : -1));
    }
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace tidemark::store
