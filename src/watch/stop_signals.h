// Ends long work in order on SIGINT, SIGTERM, SIGHUP and SIGQUIT; not on SIGHUP
// where that was ignored when we were started (nohup).
#pragma once

#include <csignal>
#include <cstdint>

#include "base/fd.h"
#include "base/result.h"

namespace tidemark::watch {

// What ended a wait: its time, the descriptor given, a signal to stop.
enum class WaitEnd { Due, Wake, Stop };

// While one of these lives these signals are blocked and wait in a
// descriptor, so that nothing is interrupted half way; the old mask comes back
// with its end. One at a time: the mask is the process's.
class StopSignals {
 public:
  static base::Result<StopSignals> block();
  StopSignals(StopSignals&& other) noexcept;
  StopSignals& operator=(StopSignals&&) = delete;
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  // Readable once one of them has come, for who waits for more than that.
  int fd() const { return fd_.get(); }

  // Sleeps until the monotonic time, or a signal, or until `wake_fd` (unless
  // -1) can be read.
  WaitEnd wait_until(uint64_t monotonic_ns, int wake_fd = -1);

 private:
  StopSignals() = default;
  base::Fd fd_;
  sigset_t old_mask_{};
  bool owns_mask_ = false;
};

}  // namespace tidemark::watch
