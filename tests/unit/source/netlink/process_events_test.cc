// Real processes on the running kernel, as root; skipped with the reason
// elsewhere.
#include "source/netlink/process_events.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "unit/quantities.h"

namespace tidemark::source {
namespace {

using model::ProcessLife;

using test::kMiB;
// Far more than anything here takes, on a machine that is busy.
constexpr uint64_t kPatienceNs = 20'000'000'000;

void touch(uint64_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) ::_exit(99);
  std::memset(memory, 1, bytes);
  ::munmap(memory, bytes);
}

// Runs `child` in a process that waits until it is followed. It must end by
// itself, without the destructors of this one.
pid_t fork_waiting(int& release, const std::function<void()>& child) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[1]);
    char ignored = 0;
    (void)!::read(ends[0], &ignored, 1);
    child();
    ::_exit(0);
  }
  ::close(ends[0]);
  release = ends[1];
  return pid;
}

class ProcessEventsTest : public testing::Test {
 protected:
  void SetUp() override {
    base::Result<ProcessEvents> result = ProcessEvents::listen();
    if (!result) GTEST_SKIP() << result.error().what;
    events_.emplace(std::move(*result));
  }

  // Follows `child` and all below it to the last one's end.
  std::vector<ProcessLife> lives_of(const std::function<void()>& child) {
    int release = -1;
    root_ = fork_waiting(release, child);
    if (root_ < 0) {
      ADD_FAILURE() << "fork: " << std::strerror(errno);
      return {};
    }
    events_->follow(root_);
    ::close(release);
    std::vector<ProcessLife> lives = drain_to_end();
    EXPECT_EQ(::waitpid(root_, &root_status_, 0), root_);
    return lives;
  }

  std::vector<ProcessLife> drain_to_end() {
    std::vector<ProcessLife> lives;
    const auto take = [&](ProcessLife life) { lives.push_back(life); };
    const uint64_t end_ns = base::monotonic_ns() + kPatienceNs;
    while (!events_->living().empty() && base::monotonic_ns() < end_ns) {
      pollfd waited{events_->fd(), POLLIN, 0};
      ::poll(&waited, 1, 1000);
      base::Status status = events_->drain(take);
      EXPECT_TRUE(status) << status.error().what;
    }
    EXPECT_TRUE(events_->living().empty()) << "an end was not told";
    EXPECT_EQ(events_->lost_count(), 0U);
    const size_t with_record = lives.size();
    events_->finish(take);
    EXPECT_EQ(lives.size(), with_record) << "a record was not told";
    return lives;
  }

  const ProcessLife& root_life(const std::vector<ProcessLife>& lives) {
    static const ProcessLife kNone;
    auto found = std::ranges::find(lives, root_, &ProcessLife::pid);
    if (found == lives.end()) ADD_FAILURE() << "no life of the root";
    return found == lives.end() ? kNone : *found;
  }

  std::optional<ProcessEvents> events_;
  pid_t root_ = -1;
  int root_status_ = -1;
};

TEST_F(ProcessEventsTest, TellsTheLifeOfACommand) {
  const uint64_t before_ns = base::monotonic_ns();
  const std::vector<ProcessLife> lives = lives_of([] {
    ::execl("/bin/sleep", "sleep", "0.05", static_cast<char*>(nullptr));
  });
  const uint64_t after_ns = base::monotonic_ns();
  ASSERT_EQ(lives.size(), 1U);
  const ProcessLife& life = root_life(lives);
  EXPECT_EQ(life.parent_pid, ::getpid());
  EXPECT_EQ(life.comm, "sleep");
  EXPECT_EQ(life.path, std::filesystem::canonical("/bin/sleep"));
  EXPECT_TRUE(life.has_execed);
  EXPECT_EQ(life.wait_status, 0);
  EXPECT_EQ(life.peak_source, model::PeakSource::HighMark);
  EXPECT_GE(life.started_ns, before_ns);
  ASSERT_TRUE(life.ended_ns);
  EXPECT_LE(*life.ended_ns, after_ns);
  EXPECT_GE(*life.ended_ns - life.started_ns, 50'000'000U);
}

TEST_F(ProcessEventsTest, TellsEveryOneOfManyShortProcesses) {
  constexpr size_t kCount = 100;
  const std::vector<ProcessLife> lives = lives_of([] {
    for (size_t i = 0; i < kCount; ++i) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        ::execl("/bin/true", "true", static_cast<char*>(nullptr));
        ::_exit(98);
      }
      ::waitpid(pid, nullptr, 0);
    }
  });
  EXPECT_EQ(lives.size(), kCount + 1);
  for (const ProcessLife& life : lives) {
    EXPECT_TRUE(life.peak_rss_bytes) << life.pid;
    if (life.pid == root_) continue;
    EXPECT_EQ(life.comm, "true");
    EXPECT_EQ(life.parent_pid, root_);
    EXPECT_TRUE(life.has_execed);
    EXPECT_EQ(life.wait_status, 0);
  }
}

TEST_F(ProcessEventsTest, HasExactlyTheMemoryThatWasTouched) {
  constexpr uint64_t kTouched = 37 * kMiB;
  const std::vector<ProcessLife> small = lives_of([] { touch(1 * kMiB); });
  const uint64_t own = root_life(small).peak_rss_bytes.value_or(0) - 1 * kMiB;
  // Given back before the end: the peak is not what it ended with.
  const std::vector<ProcessLife> large = lives_of([] { touch(kTouched); });
  ASSERT_TRUE(root_life(large).peak_rss_bytes);
  EXPECT_NEAR(static_cast<double>(*root_life(large).peak_rss_bytes),
              static_cast<double>(own + kTouched), 1.0 * kMiB);
}

TEST_F(ProcessEventsTest, FollowsADaemon) {
  const std::vector<ProcessLife> lives = lives_of([] {
    if (::fork() != 0) return;
    ::setsid();
    if (::fork() != 0) return;
    ::usleep(20'000);  // its parents are gone by then
    touch(23 * kMiB);
    ::_exit(5);
  });
  ASSERT_EQ(lives.size(), 3U);
  const ProcessLife& daemon = lives.back();
  EXPECT_EQ(daemon.wait_status, 0x500);
  EXPECT_GE(daemon.peak_rss_bytes.value_or(0), 22 * kMiB);
  auto parent = std::ranges::find(lives, daemon.parent_pid, &ProcessLife::pid);
  ASSERT_NE(parent, lives.end()) << "who forked it, not who adopted it";
  EXPECT_EQ(parent->parent_pid, root_);
  EXPECT_FALSE(daemon.has_execed);
}

TEST_F(ProcessEventsTest, HasTheStatusThatWaitGives) {
  const std::vector<ProcessLife> killed = lives_of([] { ::raise(SIGKILL); });
  EXPECT_EQ(root_life(killed).wait_status, root_status_);
  const std::vector<ProcessLife> threaded = lives_of([] {
    std::thread([] { touch(kMiB); }).join();
    ::_exit(7);
  });
  EXPECT_EQ(root_life(threaded).wait_status, root_status_);
  EXPECT_EQ(WEXITSTATUS(root_status_), 7);
}

TEST_F(ProcessEventsTest, CountsAProcessOnceThoughItHasThreads) {
  const std::vector<ProcessLife> lives = lives_of([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([] { touch(3 * kMiB); });
    for (std::thread& thread : threads)
      thread.join();
    touch(19 * kMiB);
  });
  ASSERT_EQ(lives.size(), 1U);
  EXPECT_GE(lives.front().peak_rss_bytes.value_or(0), 18 * kMiB);
}

TEST_F(ProcessEventsTest, LivesUntilItsLastThreadEnds) {
  const std::vector<ProcessLife> lives = lives_of([] {
    std::thread([] {
      ::usleep(30'000);
      touch(21 * kMiB);
      ::_exit(4);
    }).detach();
    // The first thread alone; pthread_exit() would unwind the test.
    ::syscall(SYS_exit, 0);
  });
  ASSERT_EQ(lives.size(), 1U);
  EXPECT_EQ(lives.front().wait_status, 0x400);
  EXPECT_GE(lives.front().peak_rss_bytes.value_or(0), 20 * kMiB);
}

TEST_F(ProcessEventsTest, KeepsTheImageBeforeAnExecApart) {
  const std::vector<ProcessLife> lives = lives_of([] {
    std::thread([] {
      touch(50 * kMiB);
      ::execl("/bin/true", "true", static_cast<char*>(nullptr));
    }).detach();
    ::pause();
  });
  ASSERT_EQ(lives.size(), 1U) << "the calling thread goes on as the process";
  EXPECT_EQ(lives.front().comm, "true");
  EXPECT_LT(lives.front().peak_rss_bytes.value_or(0), 10 * kMiB);
  EXPECT_GE(lives.front().earlier_peak_rss_bytes.value_or(0), 49 * kMiB);
  EXPECT_EQ(lives.front().wait_status, 0);
}

TEST_F(ProcessEventsTest, TellsOneThatEndedBeforeItWasFollowed) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(3);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  events_->follow(pid);
  const std::vector<ProcessLife> lives = drain_to_end();
  ASSERT_EQ(lives.size(), 1U);
  EXPECT_EQ(lives.front().wait_status, 0x300);
  EXPECT_EQ(lives.front().parent_pid, ::getpid());
}

TEST_F(ProcessEventsTest, FollowsWhatRunsAlready) {
  int release = -1;
  const pid_t pid = fork_waiting(release, [] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
  });
  ASSERT_GT(pid, 0);
  // A new listener has not heard of its fork.
  base::Result<ProcessEvents> late = ProcessEvents::listen();
  ASSERT_TRUE(late) << late.error().what;
  events_.emplace(std::move(*late));
  events_->follow(pid);
  EXPECT_EQ(events_->living(), std::vector<int32_t>{pid});
  EXPECT_EQ(events_->living_lives().front().parent_pid, ::getpid());
  ::close(release);
  EXPECT_EQ(drain_to_end().size(), 2U);
  ::waitpid(pid, nullptr, 0);
}

TEST_F(ProcessEventsTest, EndsWhatIsNotThereAtAll) {
  constexpr int32_t kNobody = INT32_MAX;  // above any pid_max
  events_->follow(kNobody);
  base::Status status = events_->drain([](ProcessLife) {});
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_TRUE(events_->living().empty());
  std::vector<ProcessLife> lives;
  events_->finish([&](ProcessLife life) { lives.push_back(life); });
  ASSERT_EQ(lives.size(), 1U);
  EXPECT_FALSE(lives.front().peak_rss_bytes);
}

TEST_F(ProcessEventsTest, HearsOnAfterAChildThatSharedItsSocketsHasEnded) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    events_.reset();  // as a child that unwinds would
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_EQ(lives_of([] {}).size(), 1U);
}

std::set<int> open_descriptors() {
  std::set<int> found;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    // The walk's own is closed by the time it is asked about.
    if (::fcntl(fd, F_GETFD) >= 0) found.insert(fd);
  }
  return found;
}

TEST_F(ProcessEventsTest, LeavesNoDescriptorBehindAndGivesNoneToPrograms) {
  events_.reset();
  const std::set<int> before = open_descriptors();
  {
    base::Result<ProcessEvents> some = ProcessEvents::listen();
    ASSERT_TRUE(some) << some.error().what;
    for (int fd : open_descriptors()) {
      if (before.contains(fd)) continue;
      const int flags = ::fcntl(fd, F_GETFD);
      EXPECT_TRUE(flags < 0 || (flags & FD_CLOEXEC) != 0) << fd;
    }
  }
  EXPECT_EQ(open_descriptors().size(), before.size());
}

// Of these it is known beforehand that they are refused, so they need no skip.
TEST(ProcessEventsRefused, SaysWhatAnOrdinaryUserLacks) {
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(77);
    base::Result<ProcessEvents> events = ProcessEvents::listen();
    const bool is_refused =
        !events && (events.error().kind == base::ErrorKind::Denied ||
                    events.error().kind == base::ErrorKind::Unsupported);
    ::_exit(is_refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "root may not change users";
  EXPECT_EQ(status, 0);
}

TEST(ProcessEventsRefused, IsUnsupportedInAPidNamespace) {
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    if (::unshare(CLONE_NEWPID) != 0) ::_exit(77);
    const pid_t inner = ::fork();
    if (inner == 0) {
      base::Result<ProcessEvents> events = ProcessEvents::listen();
      const bool is_told =
          !events && events.error().kind == base::ErrorKind::Unsupported &&
          events.error().what.find("pid namespace") != std::string::npos;
      ::_exit(is_told ? 0 : 1);
    }
    int status = 1;
    ::waitpid(inner, &status, 0);
    ::_exit(WEXITSTATUS(status));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no new pid namespace here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tidemark::source
