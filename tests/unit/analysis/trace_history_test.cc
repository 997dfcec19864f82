#include "analysis/trace_history.h"

#include <gtest/gtest.h>

#include "unit/analysis/traces.h"
#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using model::Trace;
using test::made_trace;

using test::kSecondNs;

Trace at(uint64_t seconds, Trace trace) {
  trace.elapsed_ns = seconds * kSecondNs;
  return trace;
}

std::vector<uint32_t> pages_of(const TraceHistory& history, size_t leaf) {
  const size_t count = history.times_ns.size();
  const auto begin =
      history.pages.begin() + static_cast<ptrdiff_t>(leaf * count);
  return {begin, begin + static_cast<ptrdiff_t>(count)};
}

TEST(TraceHistory, KnowsLeavesAgainByWhatTheyAre) {
  TraceHistoryKeeper keeper;
  keeper.add(at(1, made_trace({{{"a", "b"}, 1, 5}, {{"c"}, 2, 7}})));
  // Another order, and one that is new.
  const auto history = keeper.add(
      at(2, made_trace({{{"d"}, 1, 1}, {{"c"}, 2, 8}, {{"a", "b"}, 1, 6}})));
  EXPECT_EQ(pages_of(*history, 0), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(pages_of(*history, 1), (std::vector<uint32_t>{7, 8}));
  EXPECT_EQ(pages_of(*history, 2), (std::vector<uint32_t>{5, 6}));
  EXPECT_EQ(history->before_pages, (std::vector<uint64_t>{0, 7, 5}));
  EXPECT_EQ(history->before_ns, kSecondNs);
}

TEST(TraceHistory, TheFirstReadingHasNoneBefore) {
  TraceHistoryKeeper keeper;
  EXPECT_EQ(keeper.add(at(1, made_trace({{{"a"}, 1, 5}})))->before_ns, 0U);
}

TEST(TraceHistory, ReachesBackToTheBeginHoweverLongItIs) {
  TraceHistoryKeeper keeper;
  std::shared_ptr<const TraceHistory> history;
  constexpr uint64_t kHours = 3;
  for (uint64_t second = 1; second <= kHours * 3600; ++second) {
    Trace trace = made_trace({{{"a"}, 1, second}});
    history = keeper.add(at(second, std::move(trace)));
  }
  EXPECT_EQ(history->times_ns.front(), kSecondNs);
  EXPECT_LE(history->times_ns.size(), 48U);
  EXPECT_GE(history->times_ns.size(), 20U);
  EXPECT_GE(history->times_ns.back(), (kHours * 3600 - 600) * kSecondNs);
  EXPECT_LE(history->total_pages.size(), 640U);
  EXPECT_EQ(pages_of(*history, 0).front(), 1U);
}

}  // namespace
}  // namespace tidemark::analysis
