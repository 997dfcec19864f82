#include "source/bpf/user_budget.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tidemark::source {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1000 * kMs;

// What unwinding takes when the kernel tells of as much as it may, for
// `seconds`: a step of 10 ms at a time.
struct Run {
  uint64_t sample_ns = 25'000;
  uint64_t files_ns = 0;  // with the first sample
  uint64_t seconds = 1;
  uint64_t more_ms = 0;
};

UnwindingBudget run(const Run& run) {
  UnwindingBudget budget;
  auto allowance = static_cast<double>(budget.samples_per_second(0));
  budget.spent(run.files_ns);
  const uint64_t end = run.seconds * kSecond + run.more_ms * kMs;
  for (uint64_t now = 0; now < end; now += 10 * kMs) {
    const auto rate = static_cast<double>(budget.samples_per_second(now));
    allowance = std::min(allowance + rate / 100, rate);
    // Rarer by halves the less is left, as the kernel does it: not all at once.
    const double most = allowance / 4;
    // It sees a lower rate with the next sample.
    for (double told = 0;
         told + 1 <=
         std::min(most,
                  static_cast<double>(budget.samples_per_second(now)) / 4);
         ++told) {
      budget.spent(run.sample_ns);
      --allowance;
    }
  }
  return budget;
}

TEST(UnwindingBudget, BeginsWithAsManyAsASecondIsLikelyToTake) {
  EXPECT_EQ(UnwindingBudget().samples_per_second(0), 4000U);
}

TEST(UnwindingBudget, HoldsFromTheFirstSecondOn) {
  for (uint64_t sample_ns : {5'000UL, 25'000UL, 60'000UL, 150'000UL}) {
    const UnwindingBudget spent = run({.sample_ns = sample_ns});
    EXPECT_LE(spent.total_ns(), 100 * kMs) << sample_ns;
  }
}

TEST(UnwindingBudget, HoldsOfAShortProgram) {
  for (uint64_t sample_ns : {5'000UL, 25'000UL, 60'000UL, 150'000UL}) {
    for (uint64_t ms : {400UL, 500UL, 600UL, 900UL}) {
      const UnwindingBudget spent =
          run({.sample_ns = sample_ns, .seconds = 0, .more_ms = ms});
      EXPECT_LE(spent.total_ns(), ms * kMs / 10) << sample_ns << " " << ms;
    }
  }
}

TEST(UnwindingBudget, WhatIsReadForNoSampleIsAPartOfIt) {
  UnwindingBudget budget;
  budget.spent_on_files(80 * kMs);
  EXPECT_EQ(budget.total_ns(), 80 * kMs);
  EXPECT_EQ(budget.samples_per_second(kSecond), 500U);
  EXPECT_EQ(budget.samples_per_second(3 * kSecond), 4000U);
}

TEST(UnwindingBudget, FilesAreAPartOfIt) {
  const UnwindingBudget spent = run({.files_ns = 70 * kMs});
  EXPECT_LE(spent.total_ns(), 100 * kMs);
  EXPECT_GE(spent.total_ns(), 75 * kMs) << "what is left should be used";
}

TEST(UnwindingBudget, FilesDoNotMakeSamplesRareForGood) {
  UnwindingBudget budget;
  budget.spent(80 * kMs);
  for (int i = 0; i < 100; ++i)
    budget.spent(10'000);
  EXPECT_LT(budget.samples_per_second(kSecond), 2000U);
  EXPECT_EQ(budget.samples_per_second(3 * kSecond), 4000U);
}

TEST(UnwindingBudget, FilesThatTakeAllLeaveAFewSamples) {
  const UnwindingBudget spent = run({.files_ns = 150 * kMs});
  EXPECT_GE(spent.total_ns(), 158 * kMs);
  EXPECT_LE(spent.total_ns(), 172 * kMs);
}

TEST(UnwindingBudget, MakesUpForFilesLater) {
  const UnwindingBudget spent =
      run({.sample_ns = 60'000, .files_ns = 300 * kMs, .seconds = 10});
  EXPECT_LE(spent.total_ns(), 1000 * kMs);
}

TEST(UnwindingBudget, UsesItsShareOfALongRun) {
  const UnwindingBudget spent = run({.sample_ns = 60'000, .seconds = 20});
  EXPECT_GE(spent.total_ns(), 1400 * kMs);
  EXPECT_LE(spent.total_ns(), 1700 * kMs);
}

TEST(UnwindingBudget, WhatWasNotUsedForLongIsNotSpentAtOnce) {
  UnwindingBudget budget;
  for (int i = 0; i < 2000; ++i)
    budget.spent(100'000);
  EXPECT_LE(budget.samples_per_second(1000 * kSecond), 801U);
}

RC_GTEST_PROP(UnwindingBudget, StaysWithinItsBounds, ()) {
  UnwindingBudget budget;
  for (int i = 0; i < 100; ++i)
    budget.spent(*rc::gen::inRange<uint64_t>(0, 10 * kSecond));
  const uint64_t rate =
      budget.samples_per_second(*rc::gen::arbitrary<uint64_t>());
  RC_ASSERT(rate >= 100U);
  RC_ASSERT(rate <= 4000U);
}

TEST(StackDepth, AsksForAStepMoreThanWasNeeded) {
  StackDepth depth;
  std::optional<uint32_t> told;
  for (int i = 0; i < 4 * TM_USER_WHOLE_EVERY; ++i) {
    const std::optional<uint32_t> steps = depth.learn(1500, true);
    if (steps) told = steps;
  }
  EXPECT_EQ(told, 3U);
}

TEST(StackDepth, OneThatWasCutAsksForAllAtOnce) {
  StackDepth depth;
  for (int i = 0; i < 4 * TM_USER_WHOLE_EVERY; ++i)
    depth.learn(100, true);
  EXPECT_EQ(depth.learn(100, false), uint32_t{TM_USER_STEPS});
}

TEST(StackDepth, SaysNothingTwice) {
  StackDepth depth;
  for (int i = 0; i < 4 * TM_USER_WHOLE_EVERY; ++i)
    depth.learn(100, true);
  EXPECT_EQ(depth.learn(100, true), std::nullopt);
}

TEST(StackDepth, IsDeepUntilEnoughWereSeen) {
  StackDepth depth;
  for (int i = 0; i < 4 * TM_USER_WHOLE_EVERY - 1; ++i)
    EXPECT_EQ(depth.learn(100, true), std::nullopt);
  EXPECT_EQ(depth.learn(100, true), 2U);
}

}  // namespace
}  // namespace tidemark::source
