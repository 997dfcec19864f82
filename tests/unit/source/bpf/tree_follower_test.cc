#include "source/bpf/tree_follower.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "unit/child.h"
#include "unit/quantities.h"
#include "unit/source/bpf/follower.h"

namespace tidemark::source {
namespace {

using model::ProcessLife;
using test::Child;
using test::eventually;
using test::Line;

using test::kMiB;

void execute(const char* path, std::vector<const char*> arguments) {
  arguments.push_back(nullptr);
  ::execv(path, const_cast<char**>(arguments.data()));
  ::_exit(127);
}

// ---- who lived --------------------------------------------------------------

TEST_F(TreeFollowerLive, TellsOfAForkAndItsEnd) {
  if (!start()) return;
  const pid_t root = follow([](const Line&) {
    in_child([] { return 7; });
    return 3;
  });
  ASSERT_EQ(ended_.size(), 2U);
  EXPECT_EQ(ended_[1].pid, root);
  EXPECT_EQ(ended_[1].parent_pid, ::getpid());
  EXPECT_EQ(ended_[1].wait_status, 3 << 8);
  const ProcessLife child = child_of(root);
  EXPECT_EQ(child.wait_status, 7 << 8);
  EXPECT_FALSE(child.has_execed);
  EXPECT_FALSE(child.shares_space);
  EXPECT_GE(child.started_ns, ended_[1].started_ns);
  EXPECT_LE(child.ended_ns, ended_[1].ended_ns);
  EXPECT_EQ(child.peak_source, model::PeakSource::Counted);
}

TEST_F(TreeFollowerLive, TellsOfASignal) {
  if (!start()) return;
  const pid_t root = follow([](const Line&) {
    in_child([] {
      ::raise(SIGKILL);
      return 0;
    });
    return 0;
  });
  EXPECT_EQ(child_of(root).wait_status, SIGKILL);
}

TEST_F(TreeFollowerLive, FollowsAnExec) {
  if (!start()) return;
  const pid_t root = follow([](const Line&) {
    in_child([] {
      execute("/bin/true", {"true"});
      return 0;
    });
    return 0;
  });
  const ProcessLife child = child_of(root);
  EXPECT_TRUE(child.has_execed);
  EXPECT_EQ(child.comm, "true");
  EXPECT_EQ(child.path, "/bin/true");
  EXPECT_GT(child.peak_rss_bytes.value_or(0), 0U);
  EXPECT_EQ(child.earlier_peak_rss_bytes, std::nullopt)
      << "a copy of its parent is not what it was";
}

TEST_F(TreeFollowerLive, TheImageBeforeAnExecIsAPeakOfItsOwn) {
  if (!start()) return;
  const pid_t root = follow([](const Line&) {
    execute("/bin/sh", {"sh", "-c", "exec /bin/true"});
    return 0;
  });
  ASSERT_EQ(ended_.size(), 1U);
  EXPECT_EQ(ended_[0].pid, root);
  EXPECT_EQ(ended_[0].path, "/bin/true");
  EXPECT_GT(ended_[0].earlier_peak_rss_bytes.value_or(0), 0U);
}

TEST_F(TreeFollowerLive, FollowsADoubleForkIntoASessionOfItsOwn) {
  if (!start()) return;
  follower_->adopt_next_child();
  Child root([](const Line& line) {
    in_child([&] {
      const pid_t parent = ::getpid();
      if (::fork() != 0) return 0;
      ::setsid();
      // Until its parent is gone and another has taken its place.
      eventually([&] { return ::getppid() != parent; });
      line.say('!');
      return 0;
    });
    line.rest();
    return 0;
  });
  ASSERT_EQ(root.hear(), '!');
  ASSERT_TRUE(eventually([&] {
    drain();
    return ended_.size() == 2;
  }));
  const ProcessLife between = child_of(root.pid());
  const ProcessLife daemon = child_of(between.pid);
  EXPECT_GT(daemon.ended_ns, between.ended_ns);
  EXPECT_EQ(daemon.parent_pid, between.pid) << "who forked it";
}

TEST_F(TreeFollowerLive, AVforkThatEndsHasNoMemoryOfItsOwn) {
  if (!start()) return;
  const pid_t root = follow([](const Line&) {
    const pid_t pid = ::vfork();
    if (pid == 0) ::_exit(5);
    ::waitpid(pid, nullptr, 0);
    return 0;
  });
  const ProcessLife child = child_of(root);
  EXPECT_TRUE(child.shares_space);
  EXPECT_EQ(child.peak_rss_bytes, std::nullopt);
  EXPECT_EQ(child.wait_status, 5 << 8);
}

TEST_F(TreeFollowerLive, AVforkThatExecutesHas) {
  if (!start()) return;
  const pid_t root = follow([](const Line&) {
    pid_t pid = 0;
    char name[] = "true";
    char* const arguments[] = {name, nullptr};
    ::posix_spawn(&pid, "/bin/true", nullptr, nullptr, arguments, environ);
    ::waitpid(pid, nullptr, 0);
    return 0;
  });
  const ProcessLife child = child_of(root);
  EXPECT_FALSE(child.shares_space);
  EXPECT_EQ(child.path, "/bin/true");
  EXPECT_GT(child.peak_rss_bytes.value_or(0), 0U);
  EXPECT_LT(child.peak_rss_bytes.value_or(UINT64_MAX), 8 * kMiB);
}

TEST_F(TreeFollowerLive, ThreadsAreNoProcesses) {
  if (!start()) return;
  follow([](const Line&) {
    in_child([] {
      for (int i = 0; i < 5; ++i)
        std::thread([] {}).join();
      return 0;
    });
    return 0;
  });
  EXPECT_EQ(ended_.size(), 2U);
  EXPECT_EQ(follower_->heights().process_count, 2U);
}

// The status is that of the process, not of the thread that was its first.
TEST_F(TreeFollowerLive, TheLastThreadEndsTheProcess) {
  if (!start()) return;
  const pid_t root = follow([](const Line&) {
    in_child([] {
      std::thread([] {
        test::sleep_ms(10);
        ::_exit(9);
      }).detach();
      // This thread alone; pthread_exit would unwind the test's own frames.
      ::syscall(SYS_exit, 0);
      return 0;
    });
    return 0;
  });
  EXPECT_EQ(child_of(root).wait_status, 9 << 8);
}

TEST_F(TreeFollowerLive, AnExecByAnotherThreadIsStillTheSameProcess) {
  if (!start()) return;
  const pid_t root = follow([](const Line&) {
    in_child([] {
      std::thread([] { execute("/bin/true", {"true"}); }).join();
      return 1;
    });
    return 0;
  });
  const ProcessLife child = child_of(root);
  EXPECT_EQ(child.path, "/bin/true");
  EXPECT_EQ(child.wait_status, 0);
  EXPECT_EQ(follower_->heights().process_count, 2U);
  EXPECT_EQ(follower_->heights().rss_bytes, 0U);
}

TEST_F(TreeFollowerLive, EachOfFiveHundredIsReportedOnce) {
  if (!start()) return;
  constexpr size_t kCount = 500;
  const pid_t root = follow([](const Line&) {
    for (size_t i = 0; i < kCount; ++i)
      in_child([] { return 0; });
    return 0;
  });
  std::set<std::pair<int32_t, uint64_t>> seen;
  for (const ProcessLife& life : children_of(root))
    seen.insert({life.pid, life.started_ns});
  EXPECT_EQ(seen.size(), kCount);
  EXPECT_EQ(ended_.size(), kCount + 1);
  EXPECT_EQ(follower_->heights().process_count, kCount + 1);
  EXPECT_EQ(follower_->heights().lost_count, 0U);
}

TEST_F(TreeFollowerLive, ABystanderIsNeverReported) {
  const Child before([](const Line& line) {
    line.say('!');
    line.rest();
    return 0;
  });
  ASSERT_EQ(before.hear(), '!');
  if (!start()) return;
  const pid_t root = follow([](const Line&) { return 0; });
  Child after([](const Line&) {
    test::touch_pages(100);
    in_child([] { return 0; });
    return 0;
  });
  after.wait();
  drain();
  ASSERT_EQ(ended_.size(), 1U) << "only the first child after the call";
  EXPECT_EQ(ended_[0].pid, root);
  EXPECT_TRUE(follower_->living().empty());
}

TEST_F(TreeFollowerLive, WithoutDescendantsOnlyTheRootIsFollowed) {
  FollowOptions options;
  options.with_descendants = false;
  if (!start(options)) return;
  const pid_t root = follow([](const Line&) {
    in_child([] { return 0; });
    return 0;
  });
  ASSERT_EQ(ended_.size(), 1U);
  EXPECT_EQ(ended_[0].pid, root);
}

// ---- who lives --------------------------------------------------------------

TEST_F(TreeFollowerLive, ListsTheLivingWithTheirSize) {
  if (!start()) return;
  follower_->adopt_next_child();
  Child root([](const Line& line) {
    if (test::fork_mortal() == 0) {
      test::touch_pages(1000);
      line.say('!');
    }
    line.rest();
    return 0;
  });
  ASSERT_EQ(root.hear(), '!');
  const std::vector<LivingProcess> living = follower_->living();
  ASSERT_EQ(living.size(), 2U);
  const LivingProcess& child =
      living[0].life.pid == root.pid() ? living[1] : living[0];
  EXPECT_EQ(child.life.parent_pid, root.pid());
  EXPECT_EQ(child.life.ended_ns, std::nullopt);
  EXPECT_GE(child.rss_bytes, 1000 * page_bytes());
  EXPECT_GE(child.life.peak_rss_bytes.value_or(0), child.rss_bytes);
  root.hang_up();
  root.wait();
  EXPECT_TRUE(eventually([&] { return follower_->living().empty(); }));
}

TEST_F(TreeFollowerLive, AdoptsOnesThatRunAlready) {
  // First: a later one would inherit the line and keep it open.
  const Child bystander([](const Line& line) {
    line.rest();
    return 0;
  });
  Child running([](const Line& line) {
    test::touch_pages(500);
    line.say('!');
    line.hear();
    in_child([] { return 0; });
    line.rest();
    return 4;
  });
  ASSERT_EQ(running.hear(), '!');
  if (!start()) return;
  const base::Status adopted = follower_->adopt({running.pid()});
  ASSERT_TRUE(adopted) << adopted.error().what;
  EXPECT_EQ(living_pids(), std::vector<int32_t>{running.pid()});
  EXPECT_GE(follower_->heights().rss_bytes, 500 * page_bytes());
  running.say('g');
  running.hang_up();
  running.wait();
  drain();
  EXPECT_EQ(ended_.size(), 2U) << "what it starts from now on is followed";
  EXPECT_EQ(child_of(running.pid()).wait_status, 0);
}

TEST_F(TreeFollowerLive, CanBeMoved) {
  if (!start()) return;
  TreeFollower moved = std::move(*follower_);
  follower_.emplace(std::move(moved));
  const pid_t root = follow([](const Line&) { return 0; });
  ASSERT_EQ(ended_.size(), 1U);
  EXPECT_EQ(ended_[0].pid, root);
}

}  // namespace
}  // namespace tidemark::source
