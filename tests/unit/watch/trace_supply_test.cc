#include "watch/trace_supply.h"

#include <gtest/gtest.h>

#include "unit/analysis/traces.h"
#include "unit/fixture.h"

namespace tidemark::watch {
namespace {

using analysis::Tracing;

source::Roots fixture_roots() {
  base::Result<source::Roots> roots =
      source::open_roots(test::fixture_path("host-6.18/proc"));
  return std::move(*roots);
}

TEST(TraceSupply, ShowsWhatWasReadAlready) {
  const source::Roots roots = fixture_roots();
  base::Result<std::unique_ptr<TraceSupply>> supply =
      TraceSupply::of(roots, "dump.txt",
                      test::made_trace({{{"entry", "read"}, 1, 10, 20, 15}}));
  ASSERT_TRUE(supply) << supply.error().what;
  const TopSupply::Snapshot snapshot = (*supply)->take();
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(snapshot->target, "dump.txt");
  EXPECT_EQ(snapshot->tracing, Tracing::Still);
  ASSERT_NE(snapshot->trace, nullptr);
  EXPECT_EQ(snapshot->trace->trace->pages, 10U);
  EXPECT_EQ(snapshot->trace->by_task.groups().size(), 1U);
  EXPECT_EQ(snapshot->trace->history->before_ns, 0U) << "it has no past";
  // There is nothing to stop or to name.
  (*supply)->start_or_stop_trace();
  (*supply)->name_code();
  EXPECT_FALSE((*supply)->is_over());
}

TEST(TraceSupply, SaysWhyThereIsNoTrace) {
  const source::Roots roots = fixture_roots();
  TraceWatchOptions options;
  options.backend = model::TraceBackend::PageOwner;  // follows nothing
  base::Result<std::unique_ptr<TraceSupply>> supply =
      TraceSupply::start(roots, "the machine", options);
  ASSERT_FALSE(supply);
  EXPECT_EQ(supply.error().kind, base::ErrorKind::Unsupported);
}

TEST(TraceFeed, TellsOfAFailureAndEnds) {
  const source::Roots roots = fixture_roots();
  TraceWatchOptions options;
  options.backend = model::TraceBackend::PageOwner;
  base::Result<std::unique_ptr<TraceFeed>> feed =
      TraceFeed::start(roots, options, [] {});
  ASSERT_TRUE(feed) << feed.error().what;
  EXPECT_FALSE((*feed)->wait_for_start());
  const TraceFeed::State state = (*feed)->state();
  EXPECT_EQ(state.tracing, Tracing::Ended);
  EXPECT_FALSE(state.note.empty());
  EXPECT_FALSE((*feed)->finish());
}

}  // namespace
}  // namespace tidemark::watch
