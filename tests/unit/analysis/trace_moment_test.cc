#include "analysis/trace_moment.h"

#include <gtest/gtest.h>

#include "analysis/trace_tree.h"
#include "unit/analysis/traces.h"

namespace tidemark::analysis {
namespace {

TEST(TraceMoment, AtThePeakHoldsWhatWasHeldThen) {
  model::Trace trace = test::made_trace(
      {{{"in", "a"}, 1, 5, 90, 70}, {{"in", "b"}, 2, 30, 40, 20}});
  trace.started_realtime_ns = 1'000;
  trace.elapsed_ns = 500;
  trace.peak_realtime_ns = 1'200;
  trace.peak_pages = 90;
  trace.leaves[0].held_ns = 77;
  trace.leaves[0].lows = {1, 2, 3, 4};
  const model::Trace at = trace_at_peak(trace);
  EXPECT_EQ(at.pages, 90U);
  EXPECT_EQ(at.elapsed_ns, 200U);
  EXPECT_EQ(at.leaves[0].pages, 70U);
  EXPECT_EQ(at.leaves[0].held_ns, 0U) << "not known of then";
  EXPECT_TRUE(at.leaves[0].lows.empty());
  EXPECT_EQ(at.tasks[0].pages, 70U);
  EXPECT_EQ(at.tasks[1].pages, 20U);
  EXPECT_EQ(at.notes.size(), 1U) << "peaks are of the whole trace";
  EXPECT_EQ(make_trace_tree(at, {}).total.pages, 90U);
}

}  // namespace
}  // namespace tidemark::analysis
