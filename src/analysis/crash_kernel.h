// How much memory to reserve for a kernel that boots as the traced one did:
// what the option crashkernel= of the machine's own kernel needs.
//
// RAM of such a kernel is: what it keeps before it counts (its image, an entry
// for each page), what was in use when the trace began (all that was unpacked
// and started by then), and the most that was taken on top since. The tracer is
// no part of it.
#pragma once

#include <cstdint>
#include <optional>

#include "model/reading.h"
#include "model/trace.h"

namespace tidemark::analysis {

// Of the machine, at one moment.
struct MemoryMoment {
  uint64_t ram_bytes = 0;    // as the firmware tells
  uint64_t total_bytes = 0;  // MemTotal
  uint64_t free_bytes = 0;   // MemFree
  uint64_t used_bytes() const { return total_bytes - free_bytes; }
  bool operator==(const MemoryMoment&) const = default;
};

struct CrashKernel {
  uint64_t kept_bytes = 0;    // before the kernel counts, of a RAM of that size
  uint64_t before_bytes = 0;  // in use when the trace began
  uint64_t peak_bytes = 0;    // more at the highest, without the tracer
  uint64_t tracer_bytes = 0;  // what it took of the peak
  uint64_t table_bytes = 0;   // and its tables in the kernel
  uint64_t spare_bytes = 0;
  uint64_t size_bytes = 0;  // all of it, in whole steps
  // In use now and not traced: negative when what was there before has been
  // given back since.
  int64_t unseen_bytes = 0;
};

// What all but one process hold now.
uint64_t bytes_without(const model::Trace& trace, int32_t pid);

// `tracer_pid` is ours, `seen_bytes` the most that the others were seen to hold
// at any reading: the machine's peak may be that of loading BPF, and the others
// may hold more later. Unknown where the past is not (page_owner), or where
// one page in many was followed.
model::Reading<CrashKernel> make_crash_kernel(const model::Trace& trace,
                                              const MemoryMoment& start,
                                              const MemoryMoment& now,
                                              int32_t tracer_pid,
                                              uint64_t seen_bytes = 0);

}  // namespace tidemark::analysis
