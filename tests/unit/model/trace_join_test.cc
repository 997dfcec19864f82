#include "model/trace_join.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/trace_builder.h"

namespace tidemark::model {
namespace {

struct Made {
  const char* symbol = "";
  int32_t pid = 1;
  uint64_t start_ns = 0;
  uint64_t pages = 0;
  uint64_t machine_peak_pages = 0;
};

Trace made(std::initializer_list<Made> leaves) {
  TraceBuilder builder;
  for (const Made& each : leaves) {
    TraceFrame frame;
    frame.symbol = each.symbol;
    const uint32_t frames[] = {builder.frame(frame)};
    TraceTask task;
    task.pid = each.pid;
    task.start_ns = each.start_ns;
    task.name = "task";
    const uint32_t index = builder.task(task);
    builder.task_at(index).pages += each.pages;
    builder.task_at(index).peak_pages += each.pages;
    TraceLeaf& leaf = builder.leaf(builder.stack(frames), index);
    leaf.pages = each.pages;
    leaf.peak_pages = each.pages;
    leaf.machine_peak_pages = each.machine_peak_pages;
    builder.head().pages += each.pages;
  }
  return builder.finish();
}

uint64_t sum_of(const Trace& trace, uint64_t TraceLeaf::*field) {
  uint64_t sum = 0;
  for (const TraceLeaf& leaf : trace.leaves)
    sum += leaf.*field;
  return sum;
}

TEST(TraceJoin, OneProcessIsOneTaskThoughItsStartIsToldByTwoClocks) {
  const Trace joined =
      join_traces(made({{"a", 7, 1'230'000'000, 3, 0}}),
                  made({{"a", 7, 1'234'567'890, 4, 0}, {"b", 8, 5, 1, 0}}));
  ASSERT_EQ(joined.tasks.size(), 2U);
  EXPECT_EQ(joined.tasks[0].pages, 7U);
  ASSERT_EQ(joined.leaves.size(), 2U);
  EXPECT_EQ(joined.leaves[0].pages, 7U);
}

TEST(TraceJoin, APidThatIsAnothersByNowIsAnotherTask) {
  const Trace joined = join_traces(made({{"a", 7, 1'000'000'000, 3, 0}}),
                                   made({{"a", 7, 9'000'000'000, 4, 0}}));
  EXPECT_EQ(joined.tasks.size(), 2U);
}

TEST(TraceJoin, APeakInBothIsABound) {
  const Trace joined =
      join_traces(made({{"a", 7, 1'000'000'000, 3, 0}, {"a", 8, 5, 1, 0}}),
                  made({{"a", 7, 1'000'000'000, 4, 0}, {"a", 9, 5, 1, 0}}));
  ASSERT_EQ(joined.tasks.size(), 3U);
  for (const TraceTask& task : joined.tasks) {
    EXPECT_EQ(task.is_peak_bound, task.pid == 7) << task.pid;
    EXPECT_EQ(task.peak_pages, task.pid == 7 ? 7U : 1U) << task.pid;
  }
}

TEST(TraceJoin, SumsAreTheLatersWhichKnowsOfBoth) {
  Trace later = made({{"b", 1, 1, 5, 0}});
  later.pages = 8;
  const Trace joined = join_traces(made({{"a", 1, 1, 3, 0}}), later);
  EXPECT_EQ(joined.pages, 8U);
  EXPECT_EQ(sum_of(joined, &TraceLeaf::pages), joined.pages);
}

TEST(TraceJoin, ThePeakIsOfTheTraceItWasIn) {
  const Trace earlier = made({{"a", 1, 1, 3, 9}});
  Trace later = made({{"b", 1, 1, 5, 6}});
  later.peak_pages = 9;
  // It was before the later one began, which has no time for it.
  EXPECT_EQ(sum_of(join_traces(earlier, later), &TraceLeaf::machine_peak_pages),
            9U);
  later.peak_pages = 15;
  later.peak_realtime_ns = 1;
  EXPECT_EQ(sum_of(join_traces(earlier, later), &TraceLeaf::machine_peak_pages),
            15U);
}

TEST(TraceJoin, ModulesFaultsAndNotesAreOfBoth) {
  Trace earlier = made({});
  Trace later = made({});
  earlier.modules = {{"zram", 100, true, false}, {"loop", 50, true, true}};
  later.modules = {{"zram", 100, false, true}};
  earlier.faults.lost_events = 2;
  later.faults.lost_events = 3;
  earlier.notes = {"one", "both"};
  later.notes = {"both"};
  const Trace joined = join_traces(earlier, later);
  ASSERT_EQ(joined.modules.size(), 2U);
  EXPECT_TRUE(joined.modules[0].was_loaded && joined.modules[0].was_unloaded);
  EXPECT_EQ(joined.faults.lost_events, 5U);
  EXPECT_EQ(joined.notes.size(), 2U);
}

}  // namespace
}  // namespace tidemark::model
