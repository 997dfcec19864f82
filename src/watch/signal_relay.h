// Hands signals that reach us on to the command. Without it `kill` of a wrapper
// would leave the command alone in the world.
#pragma once

#include <sys/types.h>

#include <csignal>

#include "base/fd.h"
#include "base/result.h"

namespace tidemark::watch {

// While one of these lives the signals are blocked and wait in a descriptor.
class SignalRelay {
 public:
  static base::Result<SignalRelay> block();
  SignalRelay(SignalRelay&& other) noexcept;
  SignalRelay& operator=(SignalRelay&&) = delete;
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;
  ~SignalRelay();

  int fd() const { return fd_.get(); }
  // What the command shall start with: the mask we were started with.
  const sigset_t& inherited_mask() const { return old_mask_; }

  // Ctrl-C and its like come from the terminal and reach the command by
  // themselves, since it is in our process group; those are not sent twice.
  void relay_to(pid_t pid);

 private:
  SignalRelay() = default;
  base::Fd fd_;
  sigset_t old_mask_{};
  bool owns_mask_ = false;
};

}  // namespace tidemark::watch
