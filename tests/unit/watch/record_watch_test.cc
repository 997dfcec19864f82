// The loop of a recording over a real child, on a clock of the test's own.
#include "watch/record_watch.h"

#include <gtest/gtest.h>

#include "source/roots.h"
#include "unit/child.h"
#include "unit/source/temporary_tree.h"
#include "watch/record_source.h"

namespace tidemark::watch {
namespace {

using model::MissedTick;
using model::Sample;
using test::Child;
using test::Line;

constexpr uint64_t kPeriodNs = 100;

class Notebook : public model::Sink {
 public:
  base::Status accept(const Sample& sample) override {
    before.push_back(sample.missed_before);
    return base::Ok{};
  }
  void miss(const std::vector<MissedTick>& ticks) override { after = ticks; }
  base::Status finish() override { return base::Ok{}; }

  std::vector<std::vector<MissedTick>> before;
  std::vector<MissedTick> after;
};

uint64_t count_of(const std::vector<MissedTick>& ticks) {
  uint64_t count = 0;
  for (const MissedTick& tick : ticks)
    count += tick.count;
  return count;
}

int rest(const Line& line) {
  line.say('r');
  line.rest();
  return 0;
}

struct Recorded {
  std::vector<std::vector<MissedTick>> before;
  std::vector<MissedTick> after;
  RecordResult result;
};

// `until` are the times at which each wait ends; a signal comes with the last.
Recorded record_until(std::vector<uint64_t> until,
                      std::optional<uint64_t> duration_ns) {
  const Child child(rest);
  EXPECT_EQ(child.hear(), 'r');
  const source::Roots roots = test::TemporaryTree::open("/proc", true);
  RecordSelection selection;
  selection.members = [&] { return std::vector<int32_t>{child.pid()}; };
  selection.until_exit = false;
  BudgetOptions budget;
  RecordSource source(roots, selection, budget);
  uint64_t now = 0;
  size_t wait = 0;
  RecordHooks hooks;
  hooks.now_ns = [&] { return now; };
  hooks.wait_until = [&](uint64_t due) {
    if (wait == until.size()) return WaitEnd::Stop;
    now = std::max(due, until[wait++]);
    return WaitEnd::Due;
  };
  LoopOptions options;
  options.period_ns = kPeriodNs;
  options.duration_ns = duration_ns;
  Notebook notebook;
  base::Result<RecordResult> result = record(source, notebook, options, hooks);
  EXPECT_TRUE(result) << result.error().what;
  return {notebook.before, notebook.after, result ? *result : RecordResult()};
}

TEST(Record, TellsOfMissedTicksBeforeASignal) {
  // The second sample is late by three ticks.
  const Recorded recorded = record_until({0, 450}, {});
  EXPECT_EQ(recorded.result.end, LoopEnd::Stopped);
  ASSERT_EQ(recorded.before.size(), 2U);
  EXPECT_TRUE(recorded.before[1].empty());
  ASSERT_EQ(recorded.after.size(), 2U);
  EXPECT_EQ(recorded.after[0].due_monotonic_ns, 200U);
  EXPECT_EQ(recorded.after[1].due_monotonic_ns, 300U);
  EXPECT_EQ(recorded.result.last.missed_count, 2U);
}

TEST(Record, TellsOfMissedTicksBeforeTheEndOfItsTime) {
  // Ticks at 200, 300 and 400 would have been of it, those behind would not.
  const Recorded recorded = record_until({0, 950, 950}, 500);
  EXPECT_EQ(recorded.result.end, LoopEnd::Completed);
  ASSERT_EQ(recorded.before.size(), 3U) << "the last is that of the end";
  EXPECT_EQ(count_of(recorded.before[2]), 3U);
  ASSERT_FALSE(recorded.before[2].empty());
  EXPECT_EQ(recorded.before[2].front().due_monotonic_ns, 200U);
  EXPECT_EQ(recorded.before[2].back().due_monotonic_ns, 400U);
  EXPECT_EQ(recorded.result.last.missed_count, 3U);
}

TEST(Record, TellsOfNoTicksBehindTheEndOfItsTime) {
  const Recorded recorded = record_until({0, 950, 950}, 200);
  ASSERT_EQ(recorded.before.size(), 3U);
  EXPECT_TRUE(recorded.before[2].empty());
  EXPECT_TRUE(recorded.after.empty());
  EXPECT_EQ(recorded.result.last.missed_count, 0U);
}

}  // namespace
}  // namespace tidemark::watch
