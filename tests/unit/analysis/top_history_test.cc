#include "analysis/top_history.h"

#include <gtest/gtest.h>

#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using test::kSecondNs;

TopMoment moment(uint64_t second, std::vector<int32_t> pids, uint64_t bytes) {
  TopMoment made;
  made.time_ns = second * kSecondNs;
  for (int32_t pid : pids)
    made.processes.emplace_back(model::ProcessId{pid, 1}, bytes);
  made.pressure.some_ns = second * kSecondNs / 10;
  return made;
}

TEST(TopHistory, KeepsOnePointAStep) {
  TopHistoryKeeper keeper(100 * kSecondNs, 10);
  EXPECT_TRUE(keeper.add(moment(0, {1}, 5)));
  EXPECT_FALSE(keeper.add(moment(9, {1}, 6)));
  EXPECT_TRUE(keeper.add(moment(10, {1}, 7)));
  EXPECT_EQ(*keeper.history().of({1, 1}), (TopSeries{5, 7}));
}

TEST(TopHistory, SpansAllOfItsTimeWhenItIsFull) {
  TopHistoryKeeper keeper(100 * kSecondNs, 10);
  for (uint64_t second = 0; second <= 500; second += 10)
    keeper.add(moment(second, {1}, second));
  EXPECT_EQ(keeper.history().span_ns(), 100 * kSecondNs);
  EXPECT_EQ(keeper.history().of({1, 1})->front(), 400U);
}

TEST(TopHistory, HasNothingOfAProcessBeforeItCame) {
  TopHistoryKeeper keeper(100 * kSecondNs, 10);
  keeper.add(moment(0, {1}, 5));
  keeper.add(moment(10, {1, 2}, 6));
  EXPECT_EQ(*keeper.history().of({2, 1}), (TopSeries{std::nullopt, 6}));
}

TEST(TopHistory, ForgetsWhoHasEnded) {
  TopHistoryKeeper keeper(100 * kSecondNs, 10);
  keeper.add(moment(0, {1, 2}, 5));
  keeper.add(moment(10, {1}, 5));
  EXPECT_EQ(keeper.history().of({2, 1}), nullptr);
}

TEST(TopHistory, TellsTheShareOfTimeThatTasksWaited) {
  TopHistoryKeeper keeper(100 * kSecondNs, 10);
  keeper.add(moment(0, {}, 0));
  keeper.add(moment(10, {}, 0));
  EXPECT_EQ(keeper.history().stalled_some.back(), 100'000U);
  EXPECT_FALSE(keeper.history().stalled_full.back()) << "never told";
}

TEST(StalledShare, IsUnknownWhereTheCounterBeganAnew) {
  EXPECT_FALSE(stalled_share(10, 5, 100));
  EXPECT_EQ(stalled_share(5, 10, 100), 50'000U);
}

TEST(TopMachine, ClosesToAllRam) {
  SystemReport report;
  report.total_bytes = 1000;
  report.columns[static_cast<size_t>(SystemColumn::Free)].bytes =
      model::known<int64_t>(600);
  report.columns[static_cast<size_t>(SystemColumn::FreePerCpu)].bytes =
      model::known<int64_t>(50);
  report.columns[static_cast<size_t>(SystemColumn::Anon)].bytes =
      model::known<int64_t>(300);
  report.other_bytes = 50;
  const TopMachine machine = top_machine(report, {});
  int64_t sum = 0;
  for (int64_t bytes : machine.kinds)
    sum += bytes;
  EXPECT_EQ(sum, 1000);
  EXPECT_EQ(machine.kinds[static_cast<size_t>(model::Category::Free)], 650);
  EXPECT_FALSE(machine.swap_used_bytes) << "absent is not zero";
}

}  // namespace
}  // namespace tidemark::analysis
