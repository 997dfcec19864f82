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

}  // namespace
}  // namespace tidemark::store
