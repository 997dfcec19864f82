#include "watch/stop_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "base/clock.h"

namespace tidemark::watch {

base::Result<StopSignals> StopSignals::block() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    sigaddset(&signals, number);
  }
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

std::optional<int> StopSignals::wait_until(uint64_t monotonic_ns) {
  while (true) {
    const uint64_t now = base::monotonic_ns();
    const uint64_t left = monotonic_ns > now ? monotonic_ns - now : 0;
    timespec timeout{static_cast<time_t>(left / 1'000'000'000),
                     static_cast<long>(left % 1'000'000'000)};
    pollfd waiting{fd_.get(), POLLIN, 0};
    const int ready = ::ppoll(&waiting, 1, &timeout, nullptr);
    if (ready > 0) {
      signalfd_siginfo info{};
      if (::read(fd_.get(), &info, sizeof info) == sizeof info) {
        return static_cast<int>(info.ssi_signo);
      }
    }
    if (ready == 0) return std::nullopt;
  }
}

}  // namespace tidemark::watch
