// A tree of real processes under a real follower, for tests that are skipped
// where this machine has no BPF for us.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "source/bpf/tree_follower.h"
#include "unit/child.h"

namespace tidemark::source {

inline uint64_t page_bytes() {
  return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

inline bool is_readable(int fd, int limit_ms) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, limit_ms) == 1;
}

// Follows a child of the test and keeps what it is told. The child itself still
// runs our own image and has no peak of its own; those it forks have.
class TreeFollowerLive : public testing::Test {
 protected:
  // False, with the test skipped, where there is no BPF.
  bool start(const FollowOptions& options = {}) {
    base::Result<TreeFollower> follower = TreeFollower::start(options);
    if (follower) {
      follower_.emplace(std::move(*follower));
      return true;
    }
    const base::ErrorKind kind = follower.error().kind;
    EXPECT_TRUE(kind == base::ErrorKind::Denied ||
                kind == base::ErrorKind::Unsupported)
        << follower.error().what;
    skip("no BPF: " + follower.error().what);
    return false;
  }

  static void skip(const std::string& why) { GTEST_SKIP() << why; }

  void drain() {
    follower_->drain(
        [this](const NewHigh& high) { highs_.push_back(high); },
        [this](model::ProcessLife life) { ended_.push_back(life); });
  }

  // Runs `body` in a child as the root of the tree, to its end.
  pid_t follow(const std::function<int(const test::Line&)>& body) {
    follower_->adopt_next_child();
    test::Child root(body);
    root.wait();
    drain();
    return root.pid();
  }

  std::vector<model::ProcessLife> children_of(pid_t parent) const {
    std::vector<model::ProcessLife> list;
    for (const model::ProcessLife& life : ended_) {
      if (life.parent_pid == parent) list.push_back(life);
    }
    return list;
  }

  // The only child of `parent`.
  model::ProcessLife child_of(pid_t parent) const {
    const std::vector<model::ProcessLife> list = children_of(parent);
    EXPECT_EQ(list.size(), 1U);
    return list.empty() ? model::ProcessLife() : list[0];
  }

  std::vector<int32_t> living_pids() const {
    std::vector<int32_t> pids;
    for (const LivingProcess& process : follower_->living())
      pids.push_back(process.life.pid);
    return pids;
  }

  std::optional<TreeFollower> follower_;
  std::vector<NewHigh> highs_;
  std::vector<model::ProcessLife> ended_;
};

// Forks, runs `body` there, and waits for it.
inline void in_child(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  ::waitpid(pid, nullptr, 0);
}

}  // namespace tidemark::source
