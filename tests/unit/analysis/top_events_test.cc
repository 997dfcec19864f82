#include "analysis/top_events.h"

#include <gtest/gtest.h>

#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using test::kSecondNs;
constexpr uint64_t kSpan = 600 * kSecondNs;

model::Process named(int32_t pid, const char* comm) {
  model::Process process;
  process.id = {pid, static_cast<uint64_t>(pid) * 10};
  process.stat.pid = pid;
  process.stat.comm = comm;
  return process;
}

model::Sample at(uint64_t second, std::vector<model::Process> processes) {
  model::Sample sample;
  sample.started_monotonic_ns = second * kSecondNs;
  sample.processes = std::move(processes);
  return sample;
}

std::vector<TopEventKind> kinds_of(const std::vector<TopEvent>& events) {
  std::vector<TopEventKind> kinds;
  for (const TopEvent& event : events)
    kinds.push_back(event.kind);
  return kinds;
}

TEST(TopEvents, TellsOfStartsExecsAndExits) {
  TopEventKeeper keeper;
  keeper.add(at(10, {named(1, "sh")}), kSpan);
  EXPECT_TRUE(keeper.since(0, {}).empty())
      << "those of the first reading were there before";
  keeper.add(at(11, {named(1, "sh"), named(2, "sh")}), kSpan);
  keeper.add(at(12, {named(1, "sh"), named(2, "make")}), kSpan);
  keeper.add(at(13, {named(1, "sh")}), kSpan);
  const std::vector<TopEvent> events = keeper.since(10 * kSecondNs, {});
  EXPECT_EQ(kinds_of(events),
            (std::vector{TopEventKind::Start, TopEventKind::Exec,
                         TopEventKind::Exit}));
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1].words, "make (2)");
  EXPECT_EQ(events[2].elapsed_ns, 3 * kSecondNs);
}

TEST(TopEvents, TellsOfOneProcessAndTheMachine) {
  TopEventKeeper keeper;
  model::Sample first = at(10, {});
  first.machine.emplace();
  first.machine->vmstat.oom_kill_count = 4;
  keeper.add(first, kSpan);
  model::Sample second = at(11, {named(1, "a"), named(2, "b")});
  second.machine.emplace();
  second.machine->vmstat.oom_kill_count = 6;
  keeper.add(second, kSpan);
  const std::vector<TopEvent> events =
      keeper.since(0, {"", {model::ProcessId{2, 20}}});
  EXPECT_EQ(kinds_of(events),
            (std::vector{TopEventKind::Start, TopEventKind::OutOfMemory}));
  EXPECT_EQ(events[0].words, "b (2)");
  EXPECT_EQ(events[1].words, "2 killed");
}

TEST(TopEvents, TellsOfWaitingFromATenthOfTheTimeOn) {
  TopEventKeeper keeper;
  const auto add = [&](uint64_t second, uint64_t waited_ms) {
    model::Sample sample = at(second, {});
    sample.machine.emplace();
    sample.machine->pressure.some_ns = waited_ms * 1'000'000;
    keeper.add(sample, kSpan);
  };
  add(1, 0);
  add(2, 99);
  EXPECT_TRUE(keeper.since(0, {}).empty());
  add(3, 199);
  EXPECT_EQ(kinds_of(keeper.since(0, {})), std::vector{TopEventKind::Pressure});
}

TEST(TopEvents, ForgetsWhatIsOlderThanItsSpan) {
  TopEventKeeper keeper;
  keeper.add(at(10, {}), kSpan);
  keeper.add(at(11, {named(1, "a")}), kSpan);
  keeper.add(at(612, {named(1, "a")}), kSpan);
  EXPECT_TRUE(keeper.since(0, {}).empty());
}

TEST(TopEvents, TakesTheSmallestLimitAbove) {
  std::vector<model::Cgroup> groups(3);
  groups[0].path = "/a";
  groups[0].limit_bytes = 100;
  groups[1].path = "/a/b";
  groups[1].limit_bytes = 300;
  groups[2].path = "/a/bc";
  groups[2].limit_bytes = 1;
  EXPECT_EQ(group_limit(groups, "/a/b"), 100U);
  EXPECT_EQ(group_limit(groups, "/a/b/c"), 100U);
  EXPECT_EQ(group_limit(groups, "/x"), std::nullopt);
}

TEST(TopEvents, ReadsThemOffARecording) {
  std::vector<model::RecordedTick> ticks(4);
  for (size_t i = 0; i < ticks.size(); ++i) {
    ticks[i].id = static_cast<int64_t>(i);
    ticks[i].monotonic_ns = (100 + i) * kSecondNs;
  }
  model::RecordedProcess first;
  first.id = 7;
  first.process = {70, 1};
  first.images.resize(3);
  first.images[0].comm = "sh";
  first.images[1].comm = "make";
  first.images[1].from_tick = 2;
  first.images[1].image = 1;
  // Of a process that has ended and waits for its parent: no exec.
  first.images[2] = first.images[1];
  first.images[2].from_tick = 3;
  model::RecordedProcess second = first;
  second.id = 8;
  second.first_tick = 1;
  second.gone_at_tick = 3;
  std::vector<TopMachineTick> machine(4);
  machine[2].oom_kill_count = 1;
  machine[3].oom_kill_count = 2;
  EXPECT_EQ(kinds_of(recorded_events(ticks, {first, second}, machine, {7})),
            (std::vector{TopEventKind::Exec, TopEventKind::OutOfMemory}));
  const std::vector<TopEvent> all =
      recorded_events(ticks, {first, second}, machine, {});
  EXPECT_EQ(kinds_of(all), (std::vector{TopEventKind::Start, TopEventKind::Exec,
                                        TopEventKind::Exec, TopEventKind::Exit,
                                        TopEventKind::OutOfMemory}));
  EXPECT_EQ(all[0].elapsed_ns, kSecondNs);
}

}  // namespace
}  // namespace tidemark::analysis
