#include "watch/top_supply.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace tidemark::watch {

base::Result<WakeUp> WakeUp::make() {
  base::Fd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) return base::fail_errno("eventfd", errno);
  return WakeUp(std::move(fd));
}

void WakeUp::raise() const {
  const uint64_t one = 1;
  // It can only fail when it is readable already.
  if (::write(fd_.get(), &one, sizeof one) < 0) return;
}

void WakeUp::clear() const {
  uint64_t count = 0;
  // Nothing to read only means that nothing new is there.
  if (::read(fd_.get(), &count, sizeof count) < 0) return;
}

struct AllSignalsBlocked::Mask {
  sigset_t signals{};
};

AllSignalsBlocked::AllSignalsBlocked() : before_(std::make_unique<Mask>()) {
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_->signals);
}

AllSignalsBlocked::~AllSignalsBlocked() {
  ::pthread_sigmask(SIG_SETMASK, &before_->signals, nullptr);
}

}  // namespace tidemark::watch
