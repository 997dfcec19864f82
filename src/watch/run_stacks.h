// Follows the stacks of programs of a command while something else watches its
// peak. In a thread of its own: unwinding comes in bursts, and a picture that
// waits for one is late.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "model/trace.h"
#include "source/roots.h"
#include "watch/trace_means.h"

namespace tidemark::watch {

class RunStacks {
 public:
  // Of a process that does not run yet, and all it will start. `period`: one
  // page frame in so many is followed, or fewer.
  static base::Result<std::unique_ptr<RunStacks>> start(
      const source::Roots& roots, int32_t pid, uint64_t period);
  RunStacks(ChosenTrace chosen, base::Fd end);
  RunStacks(const RunStacks&) = delete;
  RunStacks& operator=(const RunStacks&) = delete;
  ~RunStacks();

  // Ends it.
  base::Result<model::Trace> finish(const source::Roots& roots);

 private:
  void follow();
  void stop();

  ChosenTrace chosen_;  // the thread's until it has ended
  base::Fd end_;        // readable: the thread is to end
  std::thread thread_;
};

}  // namespace tidemark::watch
