#include "source/page_account.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace tidemark::source {
namespace {

TEST(PageAccount, AFreeFindsWhoTookThePage) {
  PageAccount account(1);
  account.alloc({100, 2}, {7, 3}, 50);
  account.alloc({200, 0}, {8, 3}, 60);
  account.free({100, 1});
  ASSERT_EQ(account.nodes().size(), 2U);
  EXPECT_EQ(account.nodes()[0].pages, 2);
  EXPECT_EQ(account.nodes()[0].peak_pages, 4);
  EXPECT_EQ(account.nodes()[0].held_since_ns, 50U);
  EXPECT_EQ(account.nodes()[1].pages, 1);
  EXPECT_EQ(account.task(3).pages, 3);
  EXPECT_EQ(account.task(3).peak_pages, 5);
  EXPECT_EQ(account.task(99).pages, 0);
  EXPECT_EQ(account.machine().peak_pages, 5);
  EXPECT_EQ(account.peak_ns(), 60U);
}

TEST(PageAccount, WhatNobodyWasSeenToTakeIsCounted) {
  PageAccount account(1);
  account.free({5, 3});
  EXPECT_EQ(account.faults().untracked_freed, 8U);
  EXPECT_EQ(account.machine().pages, 0);
}

TEST(PageAccount, AMissedFreeIsMadeUpForByTheNextAllocation) {
  PageAccount account(1);
  account.alloc({5, 0}, {1, 1}, 1);
  account.alloc({5, 0}, {2, 2}, 2);
  EXPECT_EQ(account.faults().overwritten, 1U);
  EXPECT_EQ(account.nodes()[0].pages, 0);
  EXPECT_EQ(account.nodes()[1].pages, 1);
  EXPECT_EQ(account.machine().peak_pages, 1);
}

TEST(PageAccount, FramesBehindTheBoundAreCounted) {
  PageAccount account(1, {1U << 20, 8});
  account.alloc({(1U << 20) - 1, 1}, {1, 1}, 1);
  EXPECT_EQ(account.faults().out_of_range, 1U);
  EXPECT_EQ(account.machine().pages, 1);
  account.free({uint64_t{1} << 60, 0});
  EXPECT_EQ(account.faults().untracked_freed, 0U);
}

TEST(PageAccount, NodesBeyondTheBoundAreCounted) {
  PageAccount account(1, {1U << 20, 1});
  account.alloc({1, 0}, {1, 1}, 1);
  account.alloc({2, 0}, {2, 1}, 1);
  EXPECT_EQ(account.faults().table_full, 1U);
  EXPECT_EQ(account.machine().pages, 1);
}

TEST(PageAccount, AnOrderThatNoKernelHasIsIgnored) {
  PageAccount account(1);
  account.alloc({1, 63}, {1, 1}, 1);
  account.free({1, 63});
  EXPECT_EQ(account.machine().pages, 0);
}

TEST(PageAccount, HighFramesKeepWhatLowOnesHold) {
  PageAccount account(1);
  account.alloc({3, 0}, {1, 1}, 1);
  account.alloc({uint64_t{1} << 30, 0}, {1, 1}, 2);
  account.free({3, 0});
  EXPECT_EQ(account.faults().untracked_freed, 0U);
  EXPECT_EQ(account.machine().pages, 1);
}

TEST(PageAccount, AMovedPageKeepsItsOwner) {
  PageAccount account(1);
  account.alloc({10, 0}, {1, 1}, 1);
  account.alloc({20, 0}, {2, 2}, 1);  // by whoever moves it
  account.move(10, 20);
  account.move(10, 20);  // mapped twice
  account.free({10, 0});
  EXPECT_EQ(account.nodes()[0].pages, 1);
  EXPECT_EQ(account.nodes()[1].pages, 0);
  EXPECT_EQ(account.faults().untracked_freed, 0U);
  account.free({20, 0});
  EXPECT_EQ(account.machine().pages, 0);
}

TEST(PageAccount, ASampleFollowsFramesFromAllocationToFree) {
  PageAccount account(16);
  for (uint64_t frame = 0; frame < 16'384; ++frame)
    account.alloc({frame, 0}, {1, 1}, 1);
  EXPECT_NEAR(static_cast<double>(account.machine().pages), 1024, 128);
  model::TraceBuilder builder;
  const uint32_t frames[] = {builder.frame({1, "f", 0, ""})};
  const uint32_t stack = builder.stack(frames);
  const uint32_t task = builder.task({});
  const uint32_t stack_of[] = {stack, stack};
  const uint32_t task_of[] = {task, task};
  account.build({stack_of, task_of}, 2, builder);
  EXPECT_EQ(builder.head().pages,
            static_cast<uint64_t>(account.machine().pages) * 16);
  for (uint64_t frame = 0; frame < 16'384; frame += 16)
    account.free({frame, 4});
  EXPECT_EQ(account.machine().pages, 0);
  EXPECT_EQ(account.faults().untracked_freed, 0U);
}

TEST(PageAccount, APageMayCountForSeveral) {
  PageAccount account(1);
  account.alloc({64, 0}, {1, 1}, 1, 6);
  account.alloc({128, 1}, {1, 1}, 2, 3);
  EXPECT_EQ(account.machine().pages, 64 + 2 * 8);
  EXPECT_EQ(account.nodes()[0].allocation_count, 64U + 8U);
  account.free_each(128, 0b10);
  EXPECT_EQ(account.machine().pages, 64 + 8);
  account.move(64, 70);
  account.free({70, 0});
  EXPECT_EQ(account.machine().pages, 8);
  EXPECT_EQ(account.machine().peak_pages, 64 + 2 * 8);
  EXPECT_EQ(account.faults().untracked_freed, 0U);
}

TEST(PageAccount, BuildsLeavesTasksAndLows) {
  PageAccount account(1);
  account.alloc({1, 3}, {0, 1}, 100);
  account.look(0);
  account.look(600'000'000);
  account.free({1, 0});
  model::TraceBuilder builder;
  const uint32_t frames[] = {builder.frame({1, "f", 0, ""})};
  const uint32_t stack_of[] = {builder.stack(frames)};
  model::TraceTask one;
  one.pid = 1;
  model::TraceTask two;
  two.pid = 2;
  const uint32_t task_of[] = {builder.task(one), builder.task(two)};
  account.build({stack_of, task_of}, 1100, builder);
  const model::Trace trace = builder.finish();
  ASSERT_EQ(trace.leaves.size(), 1U);
  EXPECT_EQ(trace.leaves[0].pages, 7U);
  EXPECT_EQ(trace.leaves[0].peak_pages, 8U);
  EXPECT_EQ(trace.leaves[0].machine_peak_pages, 8U);
  EXPECT_EQ(trace.leaves[0].held_ns, 1000U);
  EXPECT_EQ(trace.leaves[0].lows, std::vector<uint64_t>{8});
  EXPECT_EQ(trace.tasks[1].pages, 7U);
  EXPECT_EQ(trace.tasks[1].peak_pages, 8U);
  EXPECT_EQ(trace.tasks[0].pages, 0U);
  EXPECT_EQ(trace.peak_pages, 8U);
}

// The same without any cleverness: all sums are made anew after each change.
struct Naive {
  using Key = std::pair<uint32_t, uint32_t>;
  std::map<uint64_t, Key> owners;
  std::map<Key, int64_t> peaks;
  std::map<uint32_t, int64_t> task_peaks;
  std::map<Key, int64_t> at_peak;
  int64_t peak = 0;
  uint64_t untracked = 0;
  uint64_t overwritten = 0;

  std::map<Key, int64_t> held() const {
    std::map<Key, int64_t> held;
    for (const auto& [frame, owner] : owners)
      ++held[owner];
    return held;
  }
  std::map<uint32_t, int64_t> held_by_task() const {
    std::map<uint32_t, int64_t> by_task;
    for (const auto& [key, pages] : held())
      by_task[key.second] += pages;
    return by_task;
  }
  void note_peaks() {
    const std::map<Key, int64_t> now = held();
    for (const auto& [key, pages] : now)
      peaks[key] = std::max(peaks[key], pages);
    for (const auto& [task, pages] : held_by_task())
      task_peaks[task] = std::max(task_peaks[task], pages);
    if (static_cast<int64_t>(owners.size()) <= peak) return;
    peak = static_cast<int64_t>(owners.size());
    at_peak = now;
  }
  void alloc(PageBlock block, PageOwner owner) {
    for (uint64_t i = 0; i < uint64_t{1} << block.order; ++i)
      overwritten += owners.count(block.frame + i);
    for (uint64_t i = 0; i < uint64_t{1} << block.order; ++i)
      owners[block.frame + i] = {owner.stack, owner.task};
    note_peaks();
  }
  void free(PageBlock block) {
    for (uint64_t i = 0; i < uint64_t{1} << block.order; ++i)
      untracked += owners.erase(block.frame + i) == 0 ? 1 : 0;
  }
};

RC_GTEST_PROP(PageAccountProperty, AgreesWithANaiveCount, ()) {
  PageAccount account(1);
  Naive naive;
  const auto count = *rc::gen::inRange(0, 150);
  for (int i = 0; i < count; ++i) {
    const auto order = *rc::gen::inRange<uint32_t>(0, 4);
    const auto frame = *rc::gen::inRange<uint64_t>(0, 40) << order;
    if (*rc::gen::inRange(0, 5) < 2) {
      account.free({frame, order});
      naive.free({frame, order});
      continue;
    }
    const PageOwner owner = {*rc::gen::inRange<uint32_t>(0, 4),
                             *rc::gen::inRange<uint32_t>(0, 3)};
    account.alloc({frame, order}, owner, static_cast<uint64_t>(i) + 1);
    naive.alloc({frame, order}, owner);
  }
  const auto held = naive.held();
  const auto value_in = [](const auto& map, const auto& key) {
    const auto at = map.find(key);
    return at == map.end() ? int64_t{0} : at->second;
  };
  for (const PageAccount::Node& node : account.nodes()) {
    const Naive::Key key = {node.owner.stack, node.owner.task};
    RC_ASSERT(node.pages == value_in(held, key));
    RC_ASSERT(node.peak_pages == value_in(naive.peaks, key));
    RC_ASSERT(account.pages_at_machine_peak(node) ==
              value_in(naive.at_peak, key));
  }
  for (const auto& [task, pages] : naive.held_by_task())
    RC_ASSERT(account.task(task).pages == pages);
  for (const auto& [task, pages] : naive.task_peaks)
    RC_ASSERT(account.task(task).peak_pages == pages);
  RC_ASSERT(account.machine().pages ==
            static_cast<int64_t>(naive.owners.size()));
  RC_ASSERT(account.machine().peak_pages == naive.peak);
  RC_ASSERT(account.faults().untracked_freed == naive.untracked);
  RC_ASSERT(account.faults().overwritten == naive.overwritten);
}

TEST(PageAccount, WhatAnotherGoesOnWithIsToldByFrameAndRestated) {
  PageAccount account(1);
  account.alloc({100, 1}, {7, 3}, 50);
  account.alloc({200, 0}, {8, 3}, 60);
  account.free({100, 0});
  std::map<uint64_t, uint32_t> held;
  account.each_held(
      [&](uint64_t frame, uint32_t number) { held[frame] = number; });
  EXPECT_EQ(held, (std::map<uint64_t, uint32_t>{{101, 1}, {200, 2}}));
  account.keep_peak();
  // The other has seen the last page of the first go.
  account.restate(1, 0, std::nullopt);
  EXPECT_EQ(account.machine().pages, 1);
  EXPECT_EQ(account.task(3).pages, 1);
  EXPECT_EQ(account.pages_at_machine_peak(account.nodes()[0]), 2);
  // And a higher peak, at which it was there.
  account.restate(2, 1, 1);
  account.restate(1, 0, 1);
  EXPECT_EQ(account.pages_at_machine_peak(account.nodes()[0]), 1);
}

}  // namespace
}  // namespace tidemark::source
