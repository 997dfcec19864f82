#include "watch/capture_schedule.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "unit/quantities.h"

namespace tidemark::watch {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
using test::kMiB;
constexpr uint64_t kStart = 7'000 * kMillisecond;

constexpr uint64_t at(uint64_t milliseconds) {
  return kStart + milliseconds * kMillisecond;
}

CaptureSchedule schedule() {
  return {kStart, CaptureBudget{}};
}

// A schedule whose picture of 100 MiB began at 1 ms and took this long.
CaptureSchedule after_picture_of_100(uint64_t cost_ms) {
  CaptureSchedule made = schedule();
  made.captured(Picture::Full, cost_ms * kMillisecond, at(1 + cost_ms),
                100 * kMiB);
  return made;
}

bool takes(Picture picture) {
  return picture != Picture::None;
}

// ---- marks ------------------------------------------------------------------

TEST(CaptureSchedule, TheFirstMarkIsPictured) {
  EXPECT_TRUE(takes(schedule().crossed(at(0), 1)));
}

TEST(CaptureSchedule, AMarkAboveTheLastPictureIsPictured) {
  EXPECT_TRUE(takes(after_picture_of_100(1).crossed(at(9), 103 * kMiB)));
}

TEST(CaptureSchedule, AMarkHardlyAboveTheLastPictureIsNot) {
  EXPECT_FALSE(
      takes(after_picture_of_100(1).crossed(at(9), 100 * kMiB + kMiB / 4)));
}

TEST(CaptureSchedule, AMarkBelowTheHighestPictureIsNot) {
  EXPECT_FALSE(takes(after_picture_of_100(1).crossed(at(9), 60 * kMiB)));
}

TEST(CaptureSchedule, ALatePictureOfLessLeavesTheHigherOneStanding) {
  CaptureSchedule made = after_picture_of_100(1);
  made.captured(Picture::Full, kMillisecond, at(10), 20 * kMiB);
  EXPECT_EQ(made.captured_bytes(), 100 * kMiB);
  EXPECT_FALSE(takes(made.crossed(at(20), 50 * kMiB)));
}

// ---- looking again ----------------------------------------------------------

TEST(CaptureSchedule, NothingIsToBeLookedAtBeforeAnythingHappened) {
  EXPECT_EQ(schedule().next_look_ns(), std::nullopt);
}

TEST(CaptureSchedule, AMarkIsFollowedByALook) {
  CaptureSchedule made = schedule();
  made.crossed(at(3), kMiB);
  EXPECT_EQ(made.next_look_ns(), at(4));
}

TEST(CaptureSchedule, APictureIsFollowedByALook) {
  EXPECT_EQ(after_picture_of_100(2).next_look_ns(), at(4));
}

TEST(CaptureSchedule, ALookWhileItGrowsTakesNothingAndLooksAgain) {
  CaptureSchedule made = after_picture_of_100(1);
  EXPECT_FALSE(takes(made.looked(at(3), 102 * kMiB)));
  EXPECT_EQ(made.next_look_ns(), at(4));
}

TEST(CaptureSchedule, ALookAfterGrowthHasStoppedTakesTheSettlingPicture) {
  CaptureSchedule made = after_picture_of_100(1);
  EXPECT_FALSE(takes(made.looked(at(3), 102 * kMiB)));
  EXPECT_TRUE(takes(made.looked(at(4), 102 * kMiB)));
}

TEST(CaptureSchedule, SlowGrowthIsPicturedOnceItIsAStepAway) {
  CaptureSchedule made = after_picture_of_100(1);
  const uint64_t step = 100 * kMiB / 1000 * made.step_permille(at(3));
  EXPECT_FALSE(takes(made.looked(at(3), 100 * kMiB + step / 2)));
  EXPECT_TRUE(takes(made.looked(at(4), 100 * kMiB + step + kMiB)));
}

TEST(CaptureSchedule, ALookThatFindsNothingNewIsTheLast) {
  CaptureSchedule made = after_picture_of_100(1);
  EXPECT_FALSE(takes(made.looked(at(3), 100 * kMiB)));
  EXPECT_EQ(made.next_look_ns(), std::nullopt);
}

TEST(CaptureSchedule, AFallIsNotPictured) {
  CaptureSchedule made = after_picture_of_100(1);
  EXPECT_FALSE(takes(made.looked(at(3), 10 * kMiB)));
  EXPECT_FALSE(takes(made.looked(at(4), 10 * kMiB)));
  EXPECT_EQ(made.next_look_ns(), std::nullopt);
}

// ---- the budget -------------------------------------------------------------

// 50 ms spent, and about 52 ms expected. 60 ms are allowed until 8 % of the
// time are more; 30 ms may be owed at a top.
TEST(CaptureSchedule, AnOwedPictureIsTakenAsSoonAsItCanBePaidFor) {
  CaptureSchedule made = after_picture_of_100(50);
  EXPECT_FALSE(takes(made.crossed(at(60), 200 * kMiB)));
  EXPECT_FALSE(takes(made.looked(at(890), 200 * kMiB)));
  EXPECT_EQ(made.next_look_ns(), at(891)) << "it is remembered";
  EXPECT_TRUE(takes(made.looked(at(905), 200 * kMiB)));
}

TEST(CaptureSchedule, AnOwedPictureIsTakenOfATreeThatStillGrows) {
  CaptureSchedule made = after_picture_of_100(50);
  EXPECT_FALSE(takes(made.crossed(at(60), 150 * kMiB)));
  EXPECT_TRUE(takes(made.looked(at(3000), 200 * kMiB)));
}

TEST(CaptureSchedule, AMarkLeavesEnoughForTheTop) {
  CaptureSchedule made = after_picture_of_100(25);
  EXPECT_FALSE(takes(made.crossed(at(30), 110 * kMiB))) << "25 + 2 * 25 of 60";
  EXPECT_TRUE(takes(made.looked(at(31), 110 * kMiB))) << "25 + 25 of 60";
}

TEST(CaptureSchedule, AQuickPictureStandsInForADearOne) {
  CaptureSchedule made = after_picture_of_100(25);
  made.set_has_quick(true);
  EXPECT_EQ(made.crossed(at(30), 110 * kMiB), Picture::Quick);
  made.captured(Picture::Quick, kMillisecond, at(31), 110 * kMiB);
  EXPECT_EQ(made.captured_bytes(), 110 * kMiB);
}

TEST(CaptureSchedule, ADoubledHeightIsWorthAFullPicture) {
  CaptureSchedule made = after_picture_of_100(10);
  made.set_has_quick(true);
  EXPECT_EQ(made.crossed(at(20), 150 * kMiB), Picture::Quick);
  EXPECT_EQ(made.crossed(at(20), 210 * kMiB), Picture::Full);
}

TEST(CaptureSchedule, StepsAreAsFineAsTheBudgetAllows) {
  EXPECT_EQ(schedule().step_permille(at(0)), 25U);
  EXPECT_EQ(after_picture_of_100(50).step_permille(at(60)), 250U);
  EXPECT_EQ(after_picture_of_100(50).step_permille(at(100'000)), 25U);
}

TEST(CaptureSchedule, QuickPicturesMakeFinerSteps) {
  CaptureSchedule made = after_picture_of_100(25);
  const uint64_t without = made.step_permille(at(30));
  made.set_has_quick(true);
  EXPECT_LT(made.step_permille(at(30)), without);
}

// ---- properties -------------------------------------------------------------

// A tree that is measured as RunWatch does it, by a camera whose pictures take
// time in proportion to what they show.
class Simulation {
 public:
  explicit Simulation(uint64_t ns_per_mib) : ns_per_mib_(ns_per_mib) {}

  // The tree has this height from now on, for a while.
  void stand(uint64_t height_bytes, uint64_t duration_ns) {
    const uint64_t until = now_ + duration_ns;
    if (height_bytes >= mark_) {
      mark_ = height_bytes +
              height_bytes / 1000 * schedule_.step_permille(now_) + 1;
      take(schedule_.crossed(now_, height_bytes), height_bytes);
    }
    // Beside the looks it asks for there is one now and then, for the history.
    constexpr uint64_t kHistoryNs = 20 * kMillisecond;
    while (now_ < until) {
      const uint64_t by_the_way = now_ + kHistoryNs;
      const uint64_t next =
          std::min(by_the_way, schedule_.next_look_ns().value_or(by_the_way));
      if (next > until) break;
      now_ = std::max(now_, next);
      take(schedule_.looked(now_, height_bytes), height_bytes);
    }
    now_ = std::max(now_, until);
  }

  const CaptureSchedule& schedule() const { return schedule_; }
  bool is_within_budget() const { return is_within_budget_; }
  uint64_t picture_count() const { return picture_count_; }

 private:
  void take(Picture picture, uint64_t height_bytes) {
    if (picture == Picture::None) return;
    const uint64_t mib = std::max<uint64_t>(height_bytes / kMiB, 1);
    const uint64_t cost = mib * ns_per_mib_;
    const CaptureBudget budget;
    const uint64_t allowed =
        std::max(budget.allowance_ns,
                 (now_ - kStart) * budget.share_permille / 1000) +
        budget.credit_ns;
    // What the first one costs nobody could know, so it may overdraw all by
    // itself. The rest may be a nanosecond off by rounding.
    if (picture_count_++ == 0) {
      first_ns_ = cost;
    } else if (spent_ns_ + cost > allowed + first_ns_ + 1) {
      is_within_budget_ = false;
    }
    spent_ns_ += cost;
    schedule_.captured(picture, cost, now_ + cost, height_bytes);
    now_ += cost;
  }

  uint64_t ns_per_mib_;
  CaptureSchedule schedule_{kStart, CaptureBudget{}};
  uint64_t now_ = kStart;
  uint64_t mark_ = 1;
  uint64_t spent_ns_ = 0;
  uint64_t first_ns_ = 0;
  uint64_t picture_count_ = 0;
  bool is_within_budget_ = true;
};

struct Stand {
  uint64_t height_mib = 0;
  uint64_t duration_us = 0;
};

std::vector<Stand> random_curve() {
  const rc::Gen<Stand> stand = rc::gen::build<Stand>(
      rc::gen::set(&Stand::height_mib, rc::gen::inRange<uint64_t>(1, 8192)),
      rc::gen::set(&Stand::duration_us, rc::gen::inRange<uint64_t>(0, 50'000)));
  return *rc::gen::container<std::vector<Stand>>(stand);
}

RC_GTEST_PROP(CaptureScheduleProperty, PicturesStayWithinTheBudget, ()) {
  Simulation run(*rc::gen::inRange<uint64_t>(1, 18'000));
  for (const Stand& stand : random_curve()) {
    run.stand(stand.height_mib * kMiB, stand.duration_us * 1000);
  }
  RC_ASSERT(run.is_within_budget());
}

RC_GTEST_PROP(CaptureScheduleProperty, AGrownTreeIsPicturedInTheEnd, ()) {
  Simulation run(*rc::gen::inRange<uint64_t>(1, 18'000));
  for (const Stand& stand : random_curve()) {
    run.stand(stand.height_mib * kMiB, stand.duration_us * 1000);
  }
  const uint64_t height = 9000 * kMiB;
  run.stand(height, 10'000 * kMillisecond);
  RC_ASSERT(run.schedule().captured_bytes() >= height / 1000 * 996);
  RC_ASSERT(!run.schedule().next_look_ns());
}

RC_GTEST_PROP(CaptureScheduleProperty, ATreeThatStandsStillIsPicturedOnce, ()) {
  Simulation run(1000);
  const uint64_t height = *rc::gen::inRange<uint64_t>(1, 8192) * kMiB;
  for (int i = 0; i < 100; ++i)
    run.stand(height, 20 * kMillisecond);
  RC_ASSERT(run.picture_count() == 1U);
}

}  // namespace
}  // namespace tidemark::watch
