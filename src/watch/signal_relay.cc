#include "watch/signal_relay.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tidemark::watch {

base::Result<SignalRelay> SignalRelay::block() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
                     SIGALRM, SIGWINCH}) {
    sigaddset(&signals, number);
  }
  SignalRelay relay;
  relay.fd_ = base::Fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!relay.fd_) return base::fail_errno("signalfd", errno);
  if (::sigprocmask(SIG_BLOCK, &signals, &relay.old_mask_) != 0) {
    return base::fail_errno("sigprocmask", errno);
  }
  relay.owns_mask_ = true;
  return relay;
}

SignalRelay::SignalRelay(SignalRelay&& other) noexcept
    : fd_(std::move(other.fd_)),
      old_mask_(other.old_mask_),
      owns_mask_(std::exchange(other.owns_mask_, false)) {}

SignalRelay::~SignalRelay() {
  if (owns_mask_) ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

void SignalRelay::relay_to(pid_t pid) {
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) == sizeof info) {
    const bool is_from_kernel = info.ssi_code > 0;
    const bool is_from_command = static_cast<pid_t>(info.ssi_pid) == pid;
    if (is_from_kernel || is_from_command) continue;
    ::kill(pid, static_cast<int>(info.ssi_signo));
  }
}

}  // namespace tidemark::watch
