#include "analysis/machine_history.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using test::kMiB;
using test::kSecondNs;

std::vector<model::RecordedTick> ticks_of(size_t count) {
  std::vector<model::RecordedTick> ticks(count);
  for (size_t i = 0; i < count; ++i) {
    ticks[i].id = static_cast<int64_t>(i);
    ticks[i].monotonic_ns = 7000 + i * kSecondNs;
  }
  return ticks;
}

std::vector<size_t> all_of(const std::vector<model::RecordedTick>& ticks) {
  std::vector<size_t> drawn(ticks.size());
  for (size_t i = 0; i < drawn.size(); ++i)
    drawn[i] = i;
  return drawn;
}

model::Machine machine_of(uint64_t free_mib, uint64_t anon_mib) {
  model::Machine machine;
  machine.meminfo.total_bytes = 1000 * kMiB;
  machine.meminfo.free_bytes = free_mib * kMiB;
  machine.meminfo.anon_pages_bytes = anon_mib * kMiB;
  return machine;
}

std::vector<TimelineEventKind> kinds_of(const MachineHistory& history) {
  std::vector<TimelineEventKind> kinds;
  for (const TimelineEvent& event : history.events)
    kinds.push_back(event.kind);
  return kinds;
}

int64_t sum_of(const MachineTick& tick) {
  int64_t sum = tick.other_bytes.value_or(0);
  for (const std::optional<int64_t>& column : tick.columns)
    sum += column.value_or(0);
  return sum;
}

RC_GTEST_PROP(MachineHistoryProperty, ClosesToRamAtEveryTick, ()) {
  const auto ticks = ticks_of(5);
  const std::vector<size_t> drawn = all_of(ticks);
  MachineHistoryMaker maker(ticks, drawn);
  for (int64_t tick = 0; tick < 5; ++tick) {
    model::Machine machine = machine_of(*rc::gen::inRange<uint64_t>(0, 1000),
                                        *rc::gen::inRange<uint64_t>(0, 2000));
    machine.meminfo.cached_bytes = *rc::gen::inRange<uint64_t>(0, kMiB);
    machine.meminfo.vmalloc_used_bytes = *rc::gen::inRange<uint64_t>(0, kMiB);
    maker.add(tick, machine);
  }
  const std::optional<MachineHistory> history = maker.take();
  RC_ASSERT(history.has_value());
  for (const MachineTick& tick : history->ticks)
    RC_ASSERT(sum_of(tick) == static_cast<int64_t>(*tick.total_bytes));
}

TEST(MachineHistory, IsNothingWhereTheMachineWasNotRead) {
  const auto ticks = ticks_of(3);
  const std::vector<size_t> drawn = all_of(ticks);
  EXPECT_FALSE(MachineHistoryMaker(ticks, drawn).take());
}

TEST(MachineHistory, ATickWithoutAReadingIsUnknownAndNotZero) {
  const auto ticks = ticks_of(3);
  const std::vector<size_t> drawn = all_of(ticks);
  MachineHistoryMaker maker(ticks, drawn);
  maker.add(0, machine_of(500, 400));
  maker.add(2, machine_of(500, 400));
  const std::optional<MachineHistory> history = maker.take();
  ASSERT_TRUE(history);
  ASSERT_EQ(history->ticks.size(), 3U);
  EXPECT_FALSE(history->ticks[1].total_bytes);
  EXPECT_FALSE(history->ticks[1].other_bytes);
  EXPECT_EQ(history->ticks[2].elapsed_ns, 2 * kSecondNs);
}

TEST(MachineHistory, SaysWhyAColumnIsUnknown) {
  const auto ticks = ticks_of(1);
  const std::vector<size_t> drawn = all_of(ticks);
  MachineHistoryMaker maker(ticks, drawn);
  maker.add(0, machine_of(500, 400));
  const std::optional<MachineHistory> history = maker.take();
  ASSERT_TRUE(history);
  const auto sockets = static_cast<size_t>(SystemColumn::Sockets);
  EXPECT_FALSE(history->ticks[0].columns[sockets]);
  EXPECT_EQ(history->unknown_because[sockets], "not in the recording");
}

TEST(MachineHistory, StallsAreOfTheTimeSinceTheDrawnTickBefore) {
  const auto ticks = ticks_of(4);
  const std::vector<size_t> drawn = {0, 3};
  MachineHistoryMaker maker(ticks, drawn);
  for (uint64_t i = 0; i < 4; ++i) {
    model::Machine machine = machine_of(500, 400);
    machine.pressure.some_ns = 100 + i * 1000;
    maker.add(static_cast<int64_t>(i), machine);
  }
  const std::optional<MachineHistory> history = maker.take();
  ASSERT_TRUE(history);
  EXPECT_FALSE(history->ticks[0].stalled_some_ns);
  EXPECT_EQ(history->ticks[1].stalled_some_ns, 3000U);
  EXPECT_FALSE(history->ticks[1].stalled_full_ns) << "never told";
}

TEST(MachineHistory, TellsKillsAndTheBeginOfSwappingAlsoBetweenDrawnTicks) {
  const auto ticks = ticks_of(40);
  const std::vector<size_t> drawn = {0, 39};
  MachineHistoryMaker maker(ticks, drawn);
  for (uint64_t i = 0; i < 40; ++i) {
    model::Machine machine = machine_of(500, 400);
    machine.vmstat.oom_kill_count = i < 5 ? 1 : 3;
    // For three seconds, and again after a pause.
    machine.vmstat.swapped_out_pages = i < 10   ? 50
                                       : i < 13 ? 50 + i
                                       : i < 30 ? 70
                                                : 90;
    maker.add(static_cast<int64_t>(i), machine);
  }
  const std::optional<MachineHistory> history = maker.take();
  ASSERT_TRUE(history);
  using enum TimelineEventKind;
  EXPECT_EQ(kinds_of(*history), (std::vector{OomKilled, SwapBegan, SwapBegan}));
  EXPECT_EQ(history->events[0].count, 2U);
  EXPECT_EQ(history->events[0].elapsed_ns, 5 * kSecondNs);
  EXPECT_EQ(history->events[1].elapsed_ns, 10 * kSecondNs);
  EXPECT_EQ(history->events[2].elapsed_ns, 30 * kSecondNs);
}

TEST(MachineHistory, WhatHappenedBeforeItBeganIsNoEvent) {
  const auto ticks = ticks_of(2);
  const std::vector<size_t> drawn = all_of(ticks);
  MachineHistoryMaker maker(ticks, drawn);
  for (int64_t tick : {0, 1}) {
    model::Machine machine = machine_of(500, 400);
    machine.vmstat.oom_kill_count = 9;
    machine.vmstat.swapped_out_pages = 9;
    maker.add(tick, machine);
  }
  EXPECT_TRUE(maker.take()->events.empty());
}

ResidueTrend trend_of_residue(uint64_t (*anon_mib)(uint64_t)) {
  const auto ticks = ticks_of(60);
  const std::vector<size_t> drawn = all_of(ticks);
  MachineHistoryMaker maker(ticks, drawn);
  for (uint64_t i = 0; i < 60; ++i)
    maker.add(static_cast<int64_t>(i), machine_of(500, anon_mib(i)));
  const std::optional<MachineHistory> history = maker.take();
  return history && history->residue ? history->residue->trend
                                     : ResidueTrend::Unknown;
}

TEST(MachineHistory, TheResidueHasATrend) {
  // It is what the others leave, so it falls where they rise.
  EXPECT_EQ(trend_of_residue([](uint64_t i) { return 300 + i; }),
            ResidueTrend::Falls);
  EXPECT_EQ(trend_of_residue([](uint64_t i) { return 400 - i; }),
            ResidueTrend::Rises);
  EXPECT_EQ(trend_of_residue([](uint64_t i) { return 300 + 40 * (i % 2); }),
            ResidueTrend::Steady);
}

TEST(MachineHistory, AResidueBelowNothingIsTold) {
  const auto ticks = ticks_of(60);
  const std::vector<size_t> drawn = all_of(ticks);
  MachineHistoryMaker maker(ticks, drawn);
  for (int64_t tick = 0; tick < 60; ++tick)
    maker.add(tick, machine_of(500, 600));
  const std::optional<MachineHistory> history = maker.take();
  ASSERT_TRUE(history && history->residue);
  EXPECT_EQ(history->residue->least_bytes, -static_cast<int64_t>(100 * kMiB));
  EXPECT_EQ(history->residue->trend, ResidueTrend::Steady);
}

TEST(SystemColumns, EachHasAKind) {
  for (size_t i = 0; i < kSystemColumnCount; ++i) {
    EXPECT_NE(system_column_category(static_cast<SystemColumn>(i)),
              model::Category::Unnamed);
  }
}

}  // namespace
}  // namespace tidemark::analysis
