// Lets a process change its own map while we read it.
//
// Each call that walks its pages holds the lock that its mmap and munmap wait
// for. Calls that follow each other at once take the lock again before one who
// sleeps for it has woken: 64 mappings of 32 MiB, read ten times a second, made
// an mmap wait for 19 ms, which is nearly the whole reading. With a rest each
// millisecond it was 1.8 ms.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace tidemark::source {

class ReaderPause {
 public:
  // Rests when the last rest, or the start, is long enough ago.
  void after_call();

 private:
  uint64_t rested_ns_ = base::monotonic_ns();
};

}  // namespace tidemark::source
