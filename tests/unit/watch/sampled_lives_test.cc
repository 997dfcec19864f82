#include "watch/sampled_lives.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "unit/child.h"
#include "unit/quantities.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::watch {
namespace {

using model::ProcessLife;
using test::Child;
using test::fork_mortal;
using test::Line;
using test::TemporaryTree;

using Pids = std::vector<int32_t>;

using test::kMiB;
// No process of the running machine: pids end at 4,194,304.
constexpr int32_t kNobody = 5'000'000;

std::map<int32_t, ProcessLife> by_pid(const SampledLives& lives) {
  std::map<int32_t, ProcessLife> found;
  for (const ProcessLife& life : lives.lives())
    found[life.pid] = life;
  return found;
}

Pids pids_of(const SampledLives& lives) {
  Pids pids;
  for (const source::TreeMember& member : lives.members())
    pids.push_back(member.pid);
  return pids;
}

Pids sorted(Pids pids) {
  std::ranges::sort(pids);
  return pids;
}

// ---- real processes ---------------------------------------------------------

class SampledLivesLive : public testing::Test {
 protected:
  source::Roots roots_ = TemporaryTree::open("/proc", true);
  SampledLives lives_{roots_};
};

// A child and its child; the latter says that both are there.
int be_two(const Line& line) {
  const pid_t below = fork_mortal();
  if (below == 0) {
    line.say('!');
    line.rest();
    return 0;
  }
  line.rest();
  return 0;
}

TEST_F(SampledLivesLive, WalksFromTheRootToAllDescendants) {
  Child child(be_two);
  ASSERT_EQ(child.hear(), '!');
  lives_.set_root(child.pid());
  EXPECT_GT(lives_.look(1000, {}), 0U);
  const Pids found = pids_of(lives_);
  EXPECT_EQ(found.size(), 2U);
  EXPECT_NE(std::ranges::find(found, child.pid()), found.end());
}

TEST_F(SampledLivesLive, KnowsWhoStartedWhom) {
  Child child(be_two);
  ASSERT_EQ(child.hear(), '!');
  lives_.set_root(child.pid());
  lives_.look(1000, {});
  for (const auto& [pid, life] : by_pid(lives_)) {
    EXPECT_EQ(life.parent_pid, pid == child.pid() ? ::getpid() : child.pid());
    EXPECT_EQ(life.started_ns, 1000U) << "when it was first seen";
    EXPECT_EQ(life.ended_ns, std::nullopt);
    EXPECT_EQ(life.peak_source, model::PeakSource::Sampled);
  }
}

TEST_F(SampledLivesLive, OrphansThatComeToUsAreStillOfTheTree) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  Child child([](const Line& line) {
    if (::fork() == 0) {
      ::setsid();
      line.say('!');
      line.rest();
    }
    return 0;
  });
  ASSERT_EQ(child.hear(), '!');
  child.wait();
  lives_.set_root(child.pid());
  EXPECT_GT(lives_.look(1000, {}), 0U);
  EXPECT_EQ(lives_.members().size(), 1U);
  child.hang_up();
  ::waitpid(-1, nullptr, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(SampledLivesLive, AddsUpTheResidentSizeAndPutsTheLargestFirst) {
  Child small([](const Line& line) {
    line.say('!');
    line.rest();
    return 0;
  });
  Child large([](const Line& line) {
    test::touch_pages(16 * kMiB / 4096);
    line.say('!');
    line.rest();
    return 0;
  });
  ASSERT_EQ(small.hear(), '!');
  ASSERT_EQ(large.hear(), '!');
  const uint64_t one = lives_.look(1000, {small.pid()});
  const uint64_t both = lives_.look(2000, {small.pid(), large.pid()});
  EXPECT_GE(both, one + 16 * kMiB);
  EXPECT_EQ(pids_of(lives_), (Pids{large.pid(), small.pid()}));
}

TEST_F(SampledLivesLive, OneThatHasEndedEndedWhenItWasLastSeen) {
  Child child(be_two);
  ASSERT_EQ(child.hear(), '!');
  lives_.set_root(child.pid());
  lives_.look(1000, {});
  lives_.look(2000, {});
  child.hang_up();
  child.wait();
  EXPECT_EQ(lives_.look(3000, {}), 0U);
  EXPECT_EQ(pids_of(lives_), Pids());
  const std::map<int32_t, ProcessLife> found = by_pid(lives_);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.at(child.pid()).ended_ns, 2000U);
}

TEST_F(SampledLivesLive, AZombieIsNoMember) {
  Child child([](const Line& line) {
    line.say('!');
    line.rest();
    return 0;
  });
  ASSERT_EQ(child.hear(), '!');
  lives_.look(1000, {child.pid()});
  child.hang_up();
  siginfo_t info{};
  ASSERT_EQ(
      ::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT),
      0);
  EXPECT_EQ(lives_.look(2000, {child.pid()}), 0U);
  EXPECT_EQ(pids_of(lives_), Pids());
  EXPECT_EQ(by_pid(lives_).at(child.pid()).ended_ns, 1000U);
}

TEST_F(SampledLivesLive, FollowsAnExec) {
  Child child([](const Line& line) {
    line.say('!');
    line.hear();
    // The line is closed by exec: the test sees that it is done.
    ::execl("/bin/sleep", "sleep", "5", nullptr);
    return 1;
  });
  ASSERT_EQ(child.hear(), '!');
  lives_.look(1000, {child.pid()});
  const std::string before = by_pid(lives_).at(child.pid()).comm;
  child.say('g');
  EXPECT_EQ(child.hear(), '\0');
  lives_.look(2000, {child.pid()});
  const ProcessLife life = by_pid(lives_).at(child.pid());
  EXPECT_NE(life.comm, before);
  EXPECT_EQ(life.comm, "sleep");
  EXPECT_TRUE(life.path.ends_with("/sleep")) << life.path;
  EXPECT_EQ(life.started_ns, 1000U) << "it is still the same process";
}

// ---- made-up trees ----------------------------------------------------------

TEST(SampledLives, KeepsTheHighestSizeItHasSeen) {
  const TemporaryTree tree;
  const source::Roots roots = tree.roots();
  SampledLives lives(roots);
  tree.add_process(kNobody, 1, "wave");
  const std::string statm = std::to_string(kNobody) + "/statm";
  for (const char* text :
       {"50 10 3 1 0 20 0\n", "50 30 3 1 0 20 0\n", "50 20 3 1 0 20 0\n"}) {
    tree.add(statm, text);
    lives.look(1000, {kNobody});
  }
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(by_pid(lives).at(kNobody).peak_rss_bytes, 30 * page);
  EXPECT_EQ(lives.look(2000, {kNobody}), 20 * page) << "the sum is of now";
}

TEST(SampledLives, APidThatWasGivenToAnotherIsTwoLives) {
  const TemporaryTree tree;
  const source::Roots roots = tree.roots();
  SampledLives lives(roots);
  tree.add_process(kNobody, 1, "first", 100);
  lives.look(1000, {kNobody});
  tree.add_process(kNobody, 7, "second", 200);
  lives.look(2000, {kNobody});
  const std::vector<ProcessLife> found = lives.lives();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].comm, "first");
  EXPECT_EQ(found[0].ended_ns, 1000U);
  EXPECT_EQ(found[1].comm, "second");
  EXPECT_EQ(found[1].parent_pid, 7);
  EXPECT_EQ(found[1].started_ns, 2000U);
}

TEST(SampledLives, OneThatVanishesWhileItIsReadHasNotEndedBeforeItBegan) {
  const TemporaryTree tree;
  const source::Roots roots = tree.roots();
  SampledLives lives(roots);
  tree.add_process(kNobody, 1, "short");
  tree.remove(std::to_string(kNobody) + "/statm");
  EXPECT_EQ(lives.look(1000, {kNobody}), 0U);
  const ProcessLife life = by_pid(lives).at(kNobody);
  EXPECT_EQ(life.started_ns, 1000U);
  EXPECT_EQ(life.ended_ns, 1000U);
  EXPECT_EQ(life.peak_rss_bytes, std::nullopt);
}

TEST(SampledLives, LooksAtTheMembersItIsGivenAndAtNobodyElse) {
  const TemporaryTree tree;
  const source::Roots roots = tree.roots();
  SampledLives lives(roots);
  for (int32_t i = 0; i < 3; ++i)
    tree.add_process(kNobody + i, 1, "one");
  lives.look(1000, {kNobody, kNobody + 2});
  EXPECT_EQ(sorted(pids_of(lives)), (Pids{kNobody, kNobody + 2}));
}

TEST(SampledLives, OneThatIsNotThereIsNoLife) {
  const TemporaryTree tree;
  const source::Roots roots = tree.roots();
  SampledLives lives(roots);
  EXPECT_EQ(lives.look(1000, {kNobody}), 0U);
  EXPECT_TRUE(lives.lives().empty());
}

}  // namespace
}  // namespace tidemark::watch
