// Tidies up when a signal ends the program half way, and lets it end then.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <thread>

#include "base/fd.h"
#include "base/result.h"

namespace tidemark::cli {

// While one of these lives SIGINT, SIGTERM, SIGHUP and SIGQUIT are taken by a
// thread of its own, which calls `sweep` and then ends the program by the same
// signal. A thread and not a handler: what a handler may touch would have to be
// global, and what it may call is next to nothing. Signals that are ignored, as
// under nohup, stay so. One at a time: the mask is the process's.
class SignalSweep {
 public:
  static base::Result<std::unique_ptr<SignalSweep>> start(
      std::function<void()> sweep);
  SignalSweep(const SignalSweep&) = delete;
  SignalSweep& operator=(const SignalSweep&) = delete;
  ~SignalSweep();

 private:
  SignalSweep() = default;
  void run();

  std::function<void()> sweep_;
  base::Fd signals_;
  base::Fd end_;
  sigset_t old_mask_{};
  std::thread thread_;
};

}  // namespace tidemark::cli
