#include "source/page_census.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using model::FrameRange;
using test::TemporaryTree;
using Words = std::vector<uint64_t>;

std::string bytes_of(const Words& words) {
  return {reinterpret_cast<const char*>(words.data()),
          words.size() * sizeof(uint64_t)};
}

struct Seen {
  uint64_t flags = 0;
  uint64_t count = 0;
  std::optional<uint64_t> group;
  uint64_t times = 0;
};
using SeenFrames = std::map<uint64_t, Seen>;

// The three files as a kernel would have them, in a folder.
class Kernel {
 public:
  Words flags;
  Words counts;
  Words groups;

  // Stretches of free pages among others.
  Kernel(uint64_t frames, uint64_t stretch) {
    for (uint64_t frame = 0; frame < frames; ++frame) {
      const bool is_free = frame / stretch % 2 == 0;
      flags.push_back(is_free ? model::kPageBuddy
                              : model::kPageAnon | model::kPageMapped);
      counts.push_back(is_free ? 0 : frame % 7);
      groups.push_back(is_free ? 0 : 1 + frame % 3);
    }
    tree_.add("kpageflags", bytes_of(flags));
    tree_.add("kpagecount", bytes_of(counts));
    tree_.add("kpagecgroup", bytes_of(groups));
  }
  const TemporaryTree& tree() const { return tree_; }

  SeenFrames walk(const std::vector<FrameRange>& ranges) const {
    return look([&](PageCensus& census, const PageCensus::Visitor& visit) {
      return census.walk(ranges, nullptr, visit);
    });
  }
  SeenFrames walk_frames(const std::vector<uint64_t>& frames) const {
    return look([&](PageCensus& census, const PageCensus::Visitor& visit) {
      return census.walk_frames(frames, visit);
    });
  }
  SeenFrames walk_sample(const std::vector<FrameRange>& ranges, uint64_t pages,
                         const PageCensus::Needs& needs) const {
    return look([&](PageCensus& census, const PageCensus::Visitor& visit) {
      return census.walk_sample(ranges, pages, needs, visit);
    });
  }

 private:
  template <typename Walk>
  SeenFrames look(const Walk& walk) const {
    SeenFrames seen;
    const Roots roots = tree_.roots();
    base::Result<PageCensus> census = PageCensus::open(roots.proc);
    EXPECT_TRUE(census) << census.error().what;
    if (!census) return seen;
    uint64_t next = 0;
    const base::Status status =
        walk(*census, [&](const model::PageChunk& chunk) {
          EXPECT_GE(chunk.first_frame, next) << "not in order";
          EXPECT_EQ(chunk.counts.size(), chunk.flags.size());
          for (size_t i = 0; i < chunk.flags.size(); ++i) {
            Seen& one = seen[chunk.first_frame + i];
            one.flags = chunk.flags[i];
            one.count = chunk.counts[i];
            if (!chunk.groups.empty()) one.group = chunk.groups[i];
            ++one.times;
          }
          next = chunk.first_frame + chunk.flags.size();
        });
    EXPECT_TRUE(status) << status.error().what;
    return seen;
  }

  TemporaryTree tree_;
};

void expect_all(const Kernel& kernel, const std::vector<FrameRange>& ranges) {
  const SeenFrames seen = kernel.walk(ranges);
  uint64_t frames = 0;
  for (const FrameRange& range : ranges) {
    for (uint64_t frame = range.first; frame < range.last; ++frame) {
      ++frames;
      const auto found = seen.find(frame);
      ASSERT_NE(found, seen.end()) << frame;
      EXPECT_EQ(found->second.times, 1U) << frame;
      if (frame >= kernel.flags.size()) {
        EXPECT_EQ(found->second.flags, model::kPageAbsent) << frame;
        EXPECT_EQ(found->second.count, 0U) << frame;
        continue;
      }
      ASSERT_EQ(found->second.flags, kernel.flags[frame]) << frame;
      ASSERT_EQ(found->second.count, kernel.counts[frame]) << frame;
      ASSERT_EQ(found->second.group, kernel.groups[frame]) << frame;
    }
  }
  EXPECT_EQ(seen.size(), frames) << "frames nobody asked for";
}

// A chunk has 65,536 frames and what is free is skipped in steps of 512; none
// of it may show.
TEST(PageCensus, VisitsEachFrameOnceWhateverTheStretches) {
  constexpr uint64_t kFrames = 67'000;
  for (uint64_t stretch :
       std::initializer_list<uint64_t>{1, 511, 513, 5000, 65536}) {
    const Kernel kernel(kFrames, stretch);
    expect_all(kernel, {{0, kFrames}});
  }
}

TEST(PageCensus, RangesBeginAndEndAnywhere) {
  const Kernel kernel(70'000, 700);
  expect_all(kernel,
             {{1, 159}, {60'256, 65'535}, {65'537, 65'538}, {69'001, 69'999}});
  expect_all(kernel, {});
}

TEST(PageCensus, WhatTheFilesDoNotCoverIsAbsent) {
  const Kernel kernel(1000, 37);
  expect_all(kernel, {{990, 3000}, {70'000, 70'010}});
}

TEST(PageCensus, AFileThatEndsWithinAWordEndsBeforeIt) {
  const Kernel kernel(64, 1);
  kernel.tree().add("kpageflags", bytes_of(kernel.flags) + "odd");
  kernel.tree().add("kpagecount", bytes_of(kernel.counts) + "o");
  expect_all(kernel, {{0, 80}});
}

TEST(PageCensus, CountsMayEndBeforeFlags) {
  Kernel kernel(600, 1);
  kernel.counts.resize(100);
  kernel.tree().add("kpagecount", bytes_of(kernel.counts));
  const SeenFrames seen = kernel.walk({{0, 600}});
  ASSERT_EQ(seen.size(), 600U);
  EXPECT_EQ(seen.at(99).count, kernel.counts[99]);
  EXPECT_EQ(seen.at(101).count, 0U);
  EXPECT_EQ(seen.at(599).flags, kernel.flags[599]);
}

TEST(PageCensus, WithoutGroupsItSaysWhy) {
  const Kernel kernel(100, 3);
  kernel.tree().remove("kpagecgroup");
  const Roots roots = kernel.tree().roots();
  const base::Result<PageCensus> census = PageCensus::open(roots.proc);
  ASSERT_TRUE(census);
  EXPECT_NE(census->group_note().find("kpagecgroup"), std::string::npos);
  const SeenFrames seen = kernel.walk({{0, 100}});
  EXPECT_EQ(seen.size(), 100U);
  EXPECT_FALSE(seen.at(5).group);
}

TEST(PageCensus, WithoutFlagsThereIsNone) {
  const TemporaryTree tree;
  const Roots roots = tree.roots();
  const base::Result<PageCensus> census = PageCensus::open(roots.proc);
  ASSERT_FALSE(census);
  EXPECT_EQ(census.error().kind, base::ErrorKind::NotFound);
}

// Of each of 100 parts one, over the hole and to the last frames. As many parts
// everywhere: 1090 frames, of which the first 90 parts must not have eleven
// each and the last ten parts ten.
TEST(PageCensus, ASampleHasOneFrameOfEachPart) {
  const Kernel kernel(3000, 1);
  const std::vector<FrameRange> ranges = {{0, 777}, {1000, 1313}};
  constexpr uint64_t kFrames = 1090;
  const auto everything = [](uint64_t) { return model::PageNeeds{true, true}; };
  std::map<uint64_t, uint64_t> met;
  for (int round = 0; round < 250; ++round) {
    const SeenFrames seen = kernel.walk_sample(ranges, 100, everything);
    ASSERT_EQ(seen.size(), 100U);
    uint64_t part = 0;
    for (const auto& [frame, one] : seen) {
      ASSERT_TRUE(frame < 777 || (frame >= 1000 && frame < 1313)) << frame;
      const uint64_t place = frame < 777 ? frame : frame - 1000 + 777;
      ASSERT_GE(place, part * kFrames / 100);
      ASSERT_LT(place, (part + 1) * kFrames / 100);
      ++part;
      ASSERT_EQ(one.flags, kernel.flags[frame]);
      ASSERT_EQ(one.count, kernel.counts[frame]);
      ASSERT_EQ(one.group, kernel.groups[frame]);
      ++met[frame];
    }
  }
  // One in eleven each time: that any of the last ten is never met has a chance
  // of one in a thousand million.
  for (uint64_t frame = 1303; frame < 1313; ++frame)
    EXPECT_GT(met[frame], 0U) << frame;
}

TEST(PageCensus, ASampleAsksForWhatIsNeeded) {
  const Kernel kernel(3000, 10);
  const SeenFrames seen =
      kernel.walk_sample({{0, 3000}}, 300, [](uint64_t flags) {
        return model::PageNeeds{(flags & model::kPageAnon) != 0, false};
      });
  ASSERT_EQ(seen.size(), 300U);
  for (const auto& [frame, one] : seen) {
    EXPECT_EQ(one.count, kernel.counts[frame]) << frame;
    EXPECT_EQ(one.group, 0U) << "nobody asked";
  }
}

TEST(PageCensus, ALargeSampleIsEveryFrame) {
  const Kernel kernel(3000, 10);
  const auto nothing = [](uint64_t) { return model::PageNeeds{}; };
  EXPECT_EQ(kernel.walk_sample({{0, 3000}}, 1000, nothing).size(), 3000U);
  EXPECT_EQ(kernel.walk_sample({}, 1000, nothing).size(), 0U);
}

RC_GTEST_PROP(PageCensus, FindsTheFramesOfAList, ()) {
  static const Kernel kernel(70'000, 11);
  std::vector<uint64_t> frames;
  uint64_t frame = *rc::gen::inRange<uint64_t>(0, 60'000);
  const auto count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < count; ++i) {
    frames.push_back(frame);
    frame += *rc::gen::element<uint64_t>(1, 2, 255, 256, 257, 3000);
  }
  const SeenFrames seen = kernel.walk_frames(frames);
  for (uint64_t wanted : frames) {
    const auto found = seen.find(wanted);
    RC_ASSERT(found != seen.end());
    RC_ASSERT(found->second.times == 1U);
    const bool is_there = wanted < kernel.flags.size();
    RC_ASSERT(found->second.flags ==
              (is_there ? kernel.flags[wanted] : model::kPageAbsent));
    RC_ASSERT(found->second.count == (is_there ? kernel.counts[wanted] : 0));
  }
}

}  // namespace
}  // namespace tidemark::source
