#include "analysis/crash_kernel.h"

#include <gtest/gtest.h>

#include "unit/analysis/traces.h"
#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using test::made_trace;

using test::kMiB;
constexpr int32_t kTracer = 99;

model::Trace boot_of(uint64_t pages, uint64_t tracer_pages) {
  model::Trace trace = made_trace(
      {{{"entry"}, 1, pages, pages, pages},
       {{"entry"}, kTracer, tracer_pages, tracer_pages, tracer_pages}});
  return trace;
}

TEST(CrashKernel, IsWhatTheKernelKeepsWhatWasThereAndThePeakWithSomeSpare) {
  const MemoryMoment start = {256 * kMiB, 224 * kMiB, 160 * kMiB};
  const model::Reading<CrashKernel> crash =
      make_crash_kernel(boot_of(8192, 256), start, start, kTracer);
  ASSERT_TRUE(crash);
  EXPECT_EQ(crash->before_bytes, 64 * kMiB);
  EXPECT_EQ(crash->peak_bytes, 32 * kMiB);
  EXPECT_EQ(crash->tracer_bytes, 1 * kMiB);
  EXPECT_EQ(crash->spare_bytes, 24 * kMiB);
  EXPECT_EQ(crash->size_bytes % (16 * kMiB), 0U);
  EXPECT_GE(crash->size_bytes, crash->kept_bytes + crash->before_bytes +
                                   crash->peak_bytes + crash->spare_bytes);
  EXPECT_LT(crash->size_bytes, 176 * kMiB);
}

TEST(CrashKernel, EntriesForPagesOfALargeMachineAreNotCopied) {
  const MemoryMoment small = {256 * kMiB, 240 * kMiB, 200 * kMiB};
  // The same kernel on 64 GiB: what it keeps more are entries for pages.
  constexpr uint64_t kLarge = 64 * 1024 * kMiB;
  const uint64_t kept = small.ram_bytes - small.total_bytes;
  const uint64_t more = (kLarge - small.ram_bytes) / 64;
  const MemoryMoment large = {kLarge, kLarge - kept - more,
                              kLarge - kept - more - small.used_bytes()};
  EXPECT_EQ(
      make_crash_kernel(boot_of(100, 0), small, small, kTracer)->size_bytes,
      make_crash_kernel(boot_of(100, 0), large, large, kTracer)->size_bytes);
}

TEST(CrashKernel, WhatTheKernelsOwnBufferToldOfCountsOnce) {
  const MemoryMoment start = {256 * kMiB, 224 * kMiB, 160 * kMiB};
  model::Trace trace = boot_of(8192, 0);
  trace.folded_pages = 4096;
  const model::Reading<CrashKernel> crash =
      make_crash_kernel(trace, start, start, kTracer);
  EXPECT_EQ(crash->before_bytes, 48 * kMiB);
}

TEST(CrashKernel, SaysWhatWasNotTraced) {
  const MemoryMoment start = {256 * kMiB, 224 * kMiB, 160 * kMiB};
  MemoryMoment now = start;
  now.free_bytes -= 40 * kMiB;
  EXPECT_EQ(
      make_crash_kernel(boot_of(8192, 0), start, now, kTracer)->unseen_bytes,
      static_cast<int64_t>(8 * kMiB));
}

TEST(CrashKernel, IsUnknownWhereThePeakIs) {
  const MemoryMoment start = {256 * kMiB, 224 * kMiB, 160 * kMiB};
  model::Trace trace = boot_of(1, 0);
  trace.has_peaks = false;
  EXPECT_FALSE(make_crash_kernel(trace, start, start, kTracer));
  trace = boot_of(1, 0);
  trace.sample_period = 16;
  EXPECT_FALSE(make_crash_kernel(trace, start, start, kTracer));
  const MemoryMoment hidden = {0, 224 * kMiB, 160 * kMiB};
  EXPECT_FALSE(make_crash_kernel(boot_of(1, 0), hidden, hidden, kTracer));
}

TEST(CrashKernel, WhatOthersHoldAfterThePeakOfTheTracerCounts) {
  const MemoryMoment start = {256 * kMiB, 224 * kMiB, 160 * kMiB};
  // At the machine's peak the tracer loaded; the others hold more since.
  const model::Trace trace = made_trace(
      {{{"entry"}, 1, 2048, 2048, 256}, {{"entry"}, kTracer, 0, 4096, 4096}});
  model::Trace peaked = trace;
  peaked.peak_pages = 256 + 4096;
  EXPECT_EQ(make_crash_kernel(peaked, start, start, kTracer)->peak_bytes,
            8 * kMiB);
  EXPECT_EQ(
      make_crash_kernel(peaked, start, start, kTracer, 9 * kMiB)->peak_bytes,
      9 * kMiB);
}

}  // namespace
}  // namespace tidemark::analysis
