#include "source/reader_pause.h"

#include <time.h>

namespace tidemark::source {

void ReaderPause::after_call() {
  constexpr uint64_t kLongestNs = 1'000'000;
  // Long enough for a sleeper to wake; yielding or spinning is not.
  constexpr timespec kRest = {0, 20'000};
  if (base::monotonic_ns() - rested_ns_ < kLongestNs) return;
  ::nanosleep(&kRest, nullptr);
  rested_ns_ = base::monotonic_ns();
}

}  // namespace tidemark::source
