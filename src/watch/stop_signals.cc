#include "watch/stop_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <utility>

#include "base/clock.h"

namespace tidemark::watch {
namespace {

// Whoever starts us under nohup wants us to outlive the terminal. A descriptor
// would hand the signal over all the same: one that is blocked is not ignored.
bool is_ignored(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 &&
         action.sa_handler == SIG_IGN;
}

}  // namespace

base::Result<StopSignals> StopSignals::block() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int number : {SIGINT, SIGTERM, SIGQUIT})
    sigaddset(&signals, number);
  if (!is_ignored(SIGHUP)) sigaddset(&signals, SIGHUP);
  StopSignals stop;
  stop.fd_ = base::Fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!stop.fd_) return base::fail_errno("signalfd", errno);
  if (::sigprocmask(SIG_BLOCK, &signals, &stop.old_mask_) != 0) {
    return base::fail_errno("sigprocmask", errno);
  }
  stop.owns_mask_ = true;
  return stop;
}

StopSignals::StopSignals(StopSignals&& other) noexcept
    : fd_(std::move(other.fd_)),
      old_mask_(other.old_mask_),
      owns_mask_(std::exchange(other.owns_mask_, false)) {}

StopSignals::~StopSignals() {
  if (owns_mask_) ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

WaitEnd StopSignals::wait_until(uint64_t monotonic_ns, int wake_fd) {
  while (true) {
    const uint64_t now = base::monotonic_ns();
    const uint64_t left = monotonic_ns > now ? monotonic_ns - now : 0;
    const timespec timeout{static_cast<time_t>(left / 1'000'000'000),
                           static_cast<long>(left % 1'000'000'000)};
    std::array<pollfd, 2> waiting = {
        {{fd_.get(), POLLIN, 0}, {wake_fd, POLLIN, 0}}};
    const int ready =
        ::ppoll(waiting.data(), waiting.size(), &timeout, nullptr);
    if (ready == 0) return WaitEnd::Due;
    if (ready < 0) continue;
    signalfd_siginfo info{};
    if (waiting[0].revents != 0 &&
        ::read(fd_.get(), &info, sizeof info) == sizeof info) {
      return WaitEnd::Stop;
    }
    if (waiting[1].revents != 0) return WaitEnd::Wake;
  }
}

}  // namespace tidemark::watch
