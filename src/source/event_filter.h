// What the kernel leaves out before it writes a record: a record that nobody
// asks for costs no room in a ring and no time of ours.
#pragma once

#include <cstdint>
#include <string>

#include "source/live_trace.h"

namespace tidemark::source {

// One page frame in a power of two. A filter of the kernel's can test bits of a
// frame's number and no more; so these are the frames whose last bits are the
// same as those that number its block of 2 MiB. The last bits alone will not
// do: which of them are set decides what the allocator hands out first, and a
// sample of them was wrong by 17 % where memory was in pieces.
class FrameSample {
 public:
  explicit FrameSample(uint64_t period) : mask_(period - 1) {}

  uint64_t period() const { return mask_ + 1; }
  bool has(uint64_t frame) const { return has_any(frame, 0); }
  // Any of 2^order frames, of which the first is a multiple of that.
  bool has_any(uint64_t frame, uint32_t order) const {
    return order > kMostBits ||
           (((frame ^ (frame >> kBlockBits)) & mask_) >> order) == 0;
  }
  // The same in the language of the kernel's filters; empty: all are.
  std::string filter() const;

 private:
  static constexpr uint32_t kBlockBits = 9;
  static constexpr uint32_t kMostBits = 63;
  uint64_t mask_;
};

// For the events of allocations, and for those of frees. Empty: all are asked
// for. What a filter cannot say, EventAccount leaves out later.
std::string alloc_event_filter(const TraceOptions& options);
std::string free_event_filter(const TraceOptions& options);

}  // namespace tidemark::source
