#include "analysis/page_sets.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tidemark::analysis {
namespace {

using Frames = std::vector<uint64_t>;
// What a PageSets must know, kept the plain way.
using Naive = std::map<uint64_t, std::multiset<uint32_t>>;

std::vector<SetMember> members_of(const std::multiset<uint32_t>& mappers) {
  std::vector<SetMember> members;
  for (uint32_t process : mappers) {
    if (members.empty() || members.back().process != process) {
      members.push_back({process, 0});
    }
    ++members.back().times;
  }
  return members;
}

// Walks of some processes: runs of neighbours, as a memory has them, at places
// that several share, some of them twice in one process.
std::vector<Frames> some_walks() {
  std::vector<Frames> walks(*rc::gen::inRange<size_t>(0, 6));
  for (Frames& walk : walks) {
    const auto runs = *rc::gen::inRange(0, 8);
    for (int i = 0; i < runs; ++i) {
      // The last frames of 256 TiB, or the first.
      const uint64_t base =
          *rc::gen::arbitrary<bool>() ? (uint64_t{1} << 36) - 5000 : 1;
      const uint64_t first = base + *rc::gen::inRange<uint64_t>(0, 300);
      const auto length = *rc::gen::inRange<uint64_t>(1, 40);
      for (uint64_t frame = first; frame < first + length; ++frame)
        walk.push_back(frame);
    }
  }
  return walks;
}

void walk_all(PageSets& sets, Naive& naive, const std::vector<Frames>& all) {
  for (uint32_t process = 0; process < all.size(); ++process) {
    sets.begin_process(process);
    sets.add(all[process]);
    for (uint64_t frame : all[process])
      naive[frame].insert(process);
  }
}

void expect_same(const PageSets& sets, const Naive& naive) {
  std::map<SetId, uint64_t> page_counts;
  Frames frames;
  for (const auto& [frame, mappers] : naive) {
    const SetId set = sets.find(frame);
    RC_ASSERT(sets.members(set) == members_of(mappers));
    RC_ASSERT(sets.map_count(set) == mappers.size());
    const bool is_one = *mappers.begin() == *mappers.rbegin();
    RC_ASSERT(sets.is_private(set) == is_one);
    ++page_counts[set];
    frames.push_back(frame);
  }
  for (SetId set = 1; set < sets.set_count(); ++set)
    RC_ASSERT(sets.page_count(set) == page_counts[set]);
  RC_ASSERT(sets.page_count() == naive.size());
  RC_ASSERT(sets.frames() == frames);
  size_t visited = 0;
  sets.for_each([&](uint64_t frame, SetId set) {
    ++visited;
    RC_ASSERT(sets.find(frame) == set);
  });
  RC_ASSERT(visited == naive.size());
}

RC_GTEST_PROP(PageSets, KnowsTheMappersOfEveryPage, ()) {
  const std::vector<Frames> all = some_walks();
  PageSets sets;
  Naive naive;
  walk_all(sets, naive, all);
  expect_same(sets, naive);
}

RC_GTEST_PROP(PageSets, MovedPagesAreOfTheirNewMappers, ()) {
  const std::vector<Frames> all = some_walks();
  PageSets sets;
  Naive naive;
  walk_all(sets, naive, all);
  const auto processes = static_cast<uint32_t>(all.size() + 1);
  const auto which = *rc::gen::inRange<uint64_t>(0, 100);
  for (auto& [frame, mappers] : naive) {
    if (frame % 3 == which % 3) continue;
    mappers.clear();
    for (uint64_t i = 0; i <= frame % 4; ++i)
      mappers.insert(static_cast<uint32_t>((which + frame * i) % processes));
    sets.move(frame, sets.set_of(members_of(mappers)));
  }
  expect_same(sets, naive);
}

TEST(PageSets, NobodyMapsWhatWasNotMet) {
  PageSets sets;
  EXPECT_EQ(sets.find(0), 0U);
  EXPECT_EQ(sets.find(77), 0U);
  sets.begin_process(3);
  sets.add(Frames{77});
  EXPECT_NE(sets.find(77), 0U);
  EXPECT_EQ(sets.find(78), 0U);
  EXPECT_TRUE(sets.members(0).empty());
  EXPECT_EQ(sets.map_count(0), 0U);
}

TEST(PageSets, MappedTwiceByOneProcessIsPrivate) {
  PageSets sets;
  sets.begin_process(5);
  sets.add(Frames{10, 11, 10});
  const SetId twice = sets.find(10);
  EXPECT_TRUE(sets.is_private(twice));
  EXPECT_EQ(sets.map_count(twice), 2U);
  EXPECT_EQ(sets.members(twice), (std::vector<SetMember>{{5, 2}}));
  sets.begin_process(6);
  sets.add(Frames{10});
  EXPECT_FALSE(sets.is_private(sets.find(10)));
  EXPECT_TRUE(sets.is_private(sets.find(11)));
}

TEST(PageSets, SameMappersShareASet) {
  PageSets sets;
  for (uint32_t process = 0; process < 3; ++process) {
    sets.begin_process(process);
    sets.add(Frames{1, 2, 900, 70000});
  }
  EXPECT_EQ(sets.find(1), sets.find(70000));
  EXPECT_EQ(sets.page_count(sets.find(1)), 4U);
}

TEST(PageSets, WithoutMappersAMovedPageIsOfNobody) {
  PageSets sets;
  sets.begin_process(0);
  sets.add(Frames{8});
  const SetId old = sets.find(8);
  sets.move(8, sets.set_of({}));
  EXPECT_EQ(sets.find(8), 0U);
  EXPECT_EQ(sets.page_count(old), 0U);
}

// Pages as a machine has them: a few long runs, many short ones, and frames
// without neighbours, which the table likes least.
void add_pages(PageSets& sets, uint64_t run, uint64_t gap) {
  constexpr uint64_t kPages = 1'000'000;
  Frames frames;
  for (uint64_t i = 0; i < kPages; ++i)
    frames.push_back(4096 + i / run * (run + gap) + i % run);
  sets.begin_process(0);
  sets.add(std::span(frames).first(kPages / 2));
  sets.begin_process(1);
  sets.add(frames);
  ASSERT_EQ(sets.page_count(), kPages);
}

TEST(PageSets, APageTakesSixteenBytesAtMost) {
  constexpr size_t kOwnBytes = 64 << 10;
  const std::pair<uint64_t, uint64_t> shapes[] = {
      {512, 100}, {3, 5}, {1, 7}, {1, 63}};
  for (const auto& [run, gap] : shapes) {
    PageSets sets;
    add_pages(sets, run, gap);
    EXPECT_LE(sets.memory_bytes(), 16 * sets.page_count() + kOwnBytes)
        << "runs of " << run << ", gaps of " << gap;
  }
}

}  // namespace
}  // namespace tidemark::analysis
