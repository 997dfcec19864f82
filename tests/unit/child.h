// Real processes for tests: forked without exec, told what to do over a line,
// gone with their owner, and so is everything they started.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"

namespace tidemark::test {

inline constexpr int kPatienceMs = 5000;

inline void sleep_ms(long milliseconds) {
  const timespec pause{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  ::nanosleep(&pause, nullptr);
}

// Whether it comes true before patience ends.
template <typename Condition>
bool eventually(const Condition& condition, uint64_t limit_ms = kPatienceMs) {
  const uint64_t until = base::monotonic_ns() + limit_ms * 1'000'000;
  while (!condition()) {
    if (base::monotonic_ns() > until) return false;
    sleep_ms(1);
  }
  return true;
}

// One end of the line between a test and its child.
struct Line {
  int in = -1;
  int out = -1;

  void say(char word) const {
    while (::write(out, &word, 1) < 0 && errno == EINTR) {
    }
  }
  // 0 when nothing came or nobody is left to speak.
  char hear(int limit_ms = kPatienceMs) const {
    pollfd waiting{in, POLLIN, 0};
    if (::poll(&waiting, 1, limit_ms) != 1) return 0;
    char word = 0;
    return ::read(in, &word, 1) == 1 ? word : '\0';
  }
  // Until the test hangs up. Never for good: nothing may stay behind.
  void rest() const {
    pollfd waiting{in, 0, 0};
    ::poll(&waiting, 1, 10 * kPatienceMs);
  }
};

class Child {
 public:
  // `body` runs in the child; what it returns is the exit status.
  explicit Child(const std::function<int(const Line&)>& body) {
    int down[2] = {-1, -1};
    int up[2] = {-1, -1};
    if (::pipe2(down, O_CLOEXEC) != 0 || ::pipe2(up, O_CLOEXEC) != 0) {
      ADD_FAILURE() << "no pipe";
      return;
    }
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      // Held by its descendants too, they would never see us hang up.
      ::close(down[1]);
      ::close(up[0]);
      ::_exit(body({down[0], up[1]}));
    }
    ::close(down[0]);
    ::close(up[1]);
    in_ = base::Fd(up[0]);
    out_ = base::Fd(down[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (is_waited_ || pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }

  pid_t pid() const { return pid_; }
  char hear(int limit_ms = kPatienceMs) const { return line().hear(limit_ms); }
  void say(char word) const { line().say(word); }
  // Everybody who rests goes on.
  void hang_up() { out_ = base::Fd(); }

  // Its wait status.
  int wait() {
    int status = -1;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    is_waited_ = true;
    return status;
  }

 private:
  Line line() const { return {in_.get(), out_.get()}; }

  pid_t pid_ = -1;
  base::Fd in_;
  base::Fd out_;
  bool is_waited_ = false;
};

// For children that have children: those end with them.
inline pid_t fork_mortal() {
  const pid_t pid = ::fork();
  if (pid == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return pid;
}

// Small pages of this process alone, each written to.
inline void touch_pages(size_t count) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* memory = ::mmap(nullptr, (count + 1) * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) ::_exit(1);
  ::madvise(memory, (count + 1) * page, MADV_NOHUGEPAGE);
  auto* bytes = static_cast<volatile char*>(memory);
  for (size_t i = 0; i < count; ++i)
    bytes[i * page] = 1;
}

}  // namespace tidemark::test
