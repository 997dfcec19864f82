#include "analysis/crash_kernel.h"

#include <algorithm>

namespace tidemark::analysis {
namespace {

constexpr uint64_t kMiB = 1 << 20;
// Next time a driver is larger, or comes later; and the kernel wants free pages
// to go on at all.
constexpr uint64_t kSpareParts = 4;
constexpr uint64_t kLeastSpare = 16 * kMiB;
constexpr uint64_t kStep = 16 * kMiB;
// The kernel has 64 bytes for each page of 4 KiB.
constexpr uint64_t kPageEntryParts = 64;

uint64_t tracer_pages(const model::Trace& trace, int32_t pid) {
  uint64_t pages = 0;
  for (const model::TraceLeaf& leaf : trace.leaves) {
    if (trace.tasks[leaf.task].pid == pid) pages += leaf.machine_peak_pages;
  }
  return std::min(pages, trace.peak_pages);
}

}  // namespace

uint64_t bytes_without(const model::Trace& trace, int32_t pid) {
  uint64_t pages = 0;
  for (const model::TraceLeaf& leaf : trace.leaves) {
    if (trace.tasks[leaf.task].pid != pid) pages += leaf.pages;
  }
  return pages * trace.page_size_bytes;
}

model::Reading<CrashKernel> make_crash_kernel(const model::Trace& trace,
                                              const MemoryMoment& start,
                                              const MemoryMoment& now,
                                              int32_t tracer_pid,
                                              uint64_t seen_bytes) {
  if (!trace.has_peaks) {
    return model::unknown<CrashKernel>("the highest is not known");
  }
  if (trace.sample_period != 1) {
    return model::unknown<CrashKernel>("only a sample of pages was followed");
  }
  if (start.ram_bytes < start.total_bytes) {
    return model::unknown<CrashKernel>("how much RAM there is cannot be told");
  }
  CrashKernel crash;
  const uint64_t page = trace.page_size_bytes;
  // What the kernel kept account of by itself is among what was traced.
  crash.before_bytes = start.used_bytes() -
                       std::min(trace.folded_pages * page, start.used_bytes());
  crash.tracer_bytes = tracer_pages(trace, tracer_pid) * page;
  crash.peak_bytes = std::max({trace.peak_pages * page - crash.tracer_bytes,
                               bytes_without(trace, tracer_pid), seen_bytes});
  crash.table_bytes = trace.kernel_bytes;
  const uint64_t use = crash.before_bytes + crash.peak_bytes;
  crash.spare_bytes = std::max(use / kSpareParts, kLeastSpare);
  // Entries for pages are as many as there is RAM, so those of this machine do
  // not count, and those of the size that comes out do.
  const uint64_t kept = start.ram_bytes - start.total_bytes;
  const uint64_t entries = std::min(start.ram_bytes / kPageEntryParts, kept);
  const uint64_t fixed = kept - entries + use + crash.spare_bytes;
  const uint64_t size = fixed + fixed / (kPageEntryParts - 1) + 1;
  crash.size_bytes = (size + kStep - 1) / kStep * kStep;
  crash.kept_bytes = kept - entries + crash.size_bytes / kPageEntryParts;
  crash.unseen_bytes = static_cast<int64_t>(now.used_bytes()) -
                       static_cast<int64_t>(crash.before_bytes) -
                       static_cast<int64_t>(trace.pages * page);
  return model::known(crash);
}

}  // namespace tidemark::analysis
