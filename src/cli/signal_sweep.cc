#include "cli/signal_sweep.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace tidemark::cli {
namespace {

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0) continue;
    if (action.sa_handler != SIG_IGN) sigaddset(&signals, number);
  }
  return signals;
}

// As if it had not been waited for.
void end_by(int number) {
  ::signal(number, SIG_DFL);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, number);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  ::kill(::getpid(), number);
}

}  // namespace

base::Result<std::unique_ptr<SignalSweep>> SignalSweep::start(
    std::function<void()> sweep) {
  const sigset_t signals = stop_signals();
  std::unique_ptr<SignalSweep> made(new SignalSweep());
  made->sweep_ = std::move(sweep);
  made->signals_ =
      base::Fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!made->signals_) return base::fail_errno("signalfd", errno);
  made->end_ = base::Fd(::eventfd(0, EFD_CLOEXEC));
  if (!made->end_) return base::fail_errno("eventfd", errno);
  ::pthread_sigmask(SIG_BLOCK, &signals, &made->old_mask_);
  made->thread_ = std::thread([sweeper = made.get()] { sweeper->run(); });
  return made;
}

SignalSweep::~SignalSweep() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  static_cast<void>(!::write(end_.get(), &one, sizeof one));
  thread_.join();
  ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

void SignalSweep::run() {
  while (true) {
    std::array<pollfd, 2> waiting = {
        {{signals_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    signalfd_siginfo info{};
    if (waiting[0].revents != 0 &&
        ::read(signals_.get(), &info, sizeof info) == sizeof info) {
      sweep_();
      end_by(static_cast<int>(info.ssi_signo));
    }
    if (waiting[1].revents != 0) return;
  }
}

}  // namespace tidemark::cli
