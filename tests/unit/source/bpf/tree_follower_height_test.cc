// The other half of tree_follower_test.cc: how high, when, and at what price.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "source/bpf/tree_follower.h"
#include "source/target/command.h"
#include "source/target/memory_group.h"
#include "unit/child.h"
#include "unit/quantities.h"
#include "unit/source/bpf/follower.h"
#include "unit/source/target/groups.h"

namespace tidemark::source {
namespace {

using model::ProcessLife;
using test::Child;
using test::eventually;
using test::Line;
using test::PlannedGroup;

using test::kMiB;

// ---- how high ---------------------------------------------------------------

// Touches this many pages, private or shared, and gives them back. The mapping
// is of one size for all counts: a sanitizer keeps books on it.
int touch_and_return(size_t count, int sharing = MAP_PRIVATE) {
  constexpr size_t kPages = 256 * kMiB / 4096;
  const size_t bytes = kPages * page_bytes();
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 1;
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  auto* at = static_cast<volatile char*>(memory);
  for (size_t i = 0; i < count; ++i)
    at[i * page_bytes()] = 1;
  ::munmap(memory, bytes);
  return 0;
}

// Peaks of processes that touch these many pages, above that of one that
// touches none. Each also touches some thousands, so that its peak is there and
// nowhere else.
class ExactPeakLive : public TreeFollowerLive {
 protected:
  void expect_exact(const std::vector<size_t>& counts, int sharing) {
    if (!start()) return;
    constexpr size_t kBase = 3000;
    const pid_t root = follow([&](const Line&) {
      // Twice: the first of all faults in what the others find there.
      for (int i = 0; i < 2; ++i)
        in_child([&] { return touch_and_return(kBase, sharing); });
      for (const size_t count : counts)
        in_child([&] { return touch_and_return(kBase + count, sharing); });
      return 0;
    });
    const std::vector<ProcessLife> lives = children_of(root);
    ASSERT_EQ(lives.size(), counts.size() + 2);
    const uint64_t none = lives[1].peak_rss_bytes.value_or(0);
    for (size_t i = 0; i < counts.size(); ++i) {
      const uint64_t peak = lives[i + 2].peak_rss_bytes.value_or(0);
      // They are copies of this test, and a sanitizer makes it large.
      if (peak > 64 * kMiB) GTEST_SKIP() << "above 64 MiB no peak is exact";
      EXPECT_EQ((peak - none) / page_bytes(), counts[i]);
    }
  }
};

TEST_F(ExactPeakLive, OfASmallProcessIsCountedToThePage) {
  expect_exact({0, 1, 31, 509, 4001}, MAP_PRIVATE);
}

TEST_F(ExactPeakLive, HasSharedPagesToo) {
  expect_exact({0, 1, 509}, MAP_SHARED);
}

TEST_F(TreeFollowerLive, ALargePeakIsWithinTheBoundItTells) {
  if (!start()) return;
  constexpr size_t kCount = 128 * kMiB / 4096;
  const pid_t root = follow([&](const Line&) {
    for (const size_t count : {size_t{0}, size_t{0}, kCount})
      in_child([&] { return touch_and_return(count); });
    return 0;
  });
  const std::vector<ProcessLife> lives = children_of(root);
  ASSERT_EQ(lives.size(), 3U);
  const uint64_t grown =
      lives[2].peak_rss_bytes.value_or(0) - lives[1].peak_rss_bytes.value_or(0);
  const uint64_t expected = kCount * page_bytes();
  // Of two peaks: under a sanitizer both are large.
  const uint64_t bound = 2 * follower_->peak_error_bytes();
  EXPECT_LE(grown, expected + bound);
  EXPECT_GE(grown + bound, expected);
}

TEST_F(TreeFollowerLive, TheHighestSumOfTheTreeIsNotTheSumOfThePeaks) {
  if (!start()) return;
  const pid_t root = follow([](const Line&) {
    for (int i = 0; i < 4; ++i)
      in_child([] { return touch_and_return(2000); });
    return 0;
  });
  const Heights heights = follower_->heights();
  uint64_t highest = 0;
  for (const ProcessLife& life : children_of(root))
    highest = std::max(highest, life.peak_rss_bytes.value_or(0));
  EXPECT_EQ(heights.highest_rss_bytes, highest) << "one after the other";
  EXPECT_EQ(heights.rss_bytes, 0U) << "all of it was given back";
}

TEST_F(TreeFollowerLive, TheHighestSumIsOfThoseThatLiveTogether) {
  if (!start()) return;
  follower_->adopt_next_child();
  Child root([](const Line& line) {
    for (int i = 0; i < 3; ++i) {
      if (test::fork_mortal() != 0) continue;
      test::touch_pages(1000);
      line.say('!');
      line.rest();
      return 0;
    }
    line.rest();
    return 0;
  });
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(root.hear(), '!');
  EXPECT_GE(follower_->heights().rss_bytes, 3000 * page_bytes());
  EXPECT_GE(follower_->heights().highest_rss_bytes,
            follower_->heights().rss_bytes);
}

// ---- marks ------------------------------------------------------------------

TEST_F(TreeFollowerLive, ANewHighWakesUs) {
  if (!start()) return;
  follower_->set_mark(1);
  follower_->adopt_next_child();
  Child root([](const Line& line) {
    line.hear();
    in_child([] { return touch_and_return(8 * kMiB / 4096); });
    line.rest();
    return 0;
  });
  EXPECT_FALSE(is_readable(follower_->wake_fd(), 10)) << "nothing has grown";
  root.say('g');
  ASSERT_TRUE(is_readable(follower_->wake_fd(), test::kPatienceMs));
  root.hang_up();
  root.wait();
  drain();
  ASSERT_FALSE(highs_.empty());
  EXPECT_GE(follower_->heights().highest_bytes, 8 * kMiB);
}

TEST_F(TreeFollowerLive, MarksFollowInSteps) {
  if (!start()) return;
  follower_->set_step_permille(50);
  follower_->set_mark(1);
  follow([](const Line&) {
    in_child([] { return touch_and_return(64 * kMiB / 4096); });
    return 0;
  });
  ASSERT_GT(highs_.size(), 2U);
  EXPECT_LT(highs_.size(), 100U) << "of 16384 pages";
  for (size_t i = 1; i < highs_.size(); ++i) {
    const uint64_t before = highs_[i - 1].bytes / page_bytes();
    EXPECT_GE(highs_[i].bytes / page_bytes(), before + before * 50 / 1000);
    EXPECT_GE(highs_[i].time_ns, highs_[i - 1].time_ns);
    EXPECT_EQ(highs_[i].stopped_pid, 0);
  }
}

TEST_F(TreeFollowerLive, WithoutAMarkNobodyIsWoken) {
  if (!start()) return;
  follow([](const Line&) {
    in_child([] { return touch_and_return(8 * kMiB / 4096); });
    return 0;
  });
  EXPECT_FALSE(is_readable(follower_->wake_fd(), 0)) << "not by ends either";
  EXPECT_TRUE(highs_.empty());
}

TEST_F(TreeFollowerLive, GrowthOfABystanderPassesNoMark) {
  if (!start()) return;
  follower_->set_mark(1);
  follow([](const Line&) { return 0; });
  Child bystander([](const Line&) { return touch_and_return(4000); });
  bystander.wait();
  drain();
  EXPECT_TRUE(highs_.empty());
}

TEST_F(TreeFollowerLive, WhoPassesAMarkIsStoppedOnRequest) {
  FollowOptions options;
  options.stops_at_crossing = true;
  if (!start(options)) return;
  follower_->set_mark(4 * kMiB);
  follower_->set_step_permille(100'000);
  follower_->adopt_next_child();
  Child root([](const Line& line) {
    if (test::fork_mortal() == 0) {
      test::touch_pages(16 * kMiB / 4096);
      line.say('!');
    }
    line.rest();
    return 0;
  });
  ASSERT_TRUE(is_readable(follower_->wake_fd(), test::kPatienceMs));
  drain();
  ASSERT_EQ(highs_.size(), 1U);
  const int32_t stopped = highs_[0].stopped_pid;
  ASSERT_NE(stopped, 0);
  EXPECT_NE(stopped, root.pid()) << "its child has grown";
  EXPECT_TRUE(eventually([&] { return test::state_of(stopped) == 'T'; }));
  EXPECT_NE(test::state_of(root.pid()), 'T');
  ::kill(stopped, SIGCONT);
  EXPECT_EQ(root.hear(), '!') << "it goes on and ends its work";
}

// ---- a group's charge -------------------------------------------------------

class ChargeFollowerLive : public TreeFollowerLive {
 protected:
  // Runs a shell in a group of its own; false, with the test skipped, where
  // there is none.
  bool run_in_group(const FollowOptions& options, const std::string& script) {
    planned_.emplace(PlannedGroup::memory());
    if (!*planned_) {
      skip(planned_->reason());
      return false;
    }
    if (!start(options)) return false;
    EXPECT_TRUE(make_group(**planned_, {::getpid()}));
    follower_->set_mark(1);
    follower_->adopt_next_child();
    CommandSpec spec;
    spec.arguments = {"sh", "-c", script};
    sigemptyset(&spec.signal_mask);
    base::Result<Command> command = Command::prepare(spec);
    EXPECT_TRUE(command && add_to_group(**planned_, command->pid()) &&
                command->release());
    EXPECT_TRUE(is_readable(command->end_fd(), test::kPatienceMs));
    EXPECT_TRUE(command->ending());
    drain();
    return true;
  }

  // By the kernel's own mark; 0 where it keeps none.
  uint64_t peak_bytes() const {
    base::Result<MemoryGroup> group = MemoryGroup::open(**planned_);
    return group ? group->peak_bytes().value_or(0) : 0;
  }

  std::optional<PlannedGroup> planned_;
};

TEST_F(ChargeFollowerLive, TheHeightIsTheChargeOfTheGroup) {
  FollowOptions options;
  options.height_is_charge = true;
  if (!run_in_group(options, "x=$(head -c 4000000 /dev/zero | tr '\\0' x)")) {
    return;
  }
  if (peak_bytes() == 0) GTEST_SKIP() << "this kernel keeps no peak";
  const uint64_t seen = follower_->heights().highest_bytes;
  EXPECT_LE(seen, peak_bytes());
  EXPECT_GE(seen + kMiB, peak_bytes()) << "but for what no page table shows";
  EXPECT_FALSE(highs_.empty());
}

TEST_F(ChargeFollowerLive, PageCachePassesMarksOnRequest) {
  const test::TemporaryTree folder;
  FollowOptions options;
  options.height_is_charge = true;
  options.sees_page_cache = true;
  if (!run_in_group(options,
                    "head -c 16777216 /dev/zero > " + folder.path("file"))) {
    return;
  }
  ASSERT_FALSE(highs_.empty());
  EXPECT_GE(highs_.back().bytes, 12 * kMiB);
}

// ---- its own cost -----------------------------------------------------------

TEST_F(TreeFollowerLive, TimesItselfOnlyOnRequest) {
  if (!start()) return;
  EXPECT_EQ(follower_->program_ns(), std::nullopt);
  FollowOptions options;
  options.times_itself = true;
  if (!start(options)) return;
  follow([](const Line&) {
    in_child([] { return touch_and_return(100); });
    return 0;
  });
  EXPECT_GT(follower_->program_ns().value_or(0), 0U);
}

}  // namespace
}  // namespace tidemark::source
