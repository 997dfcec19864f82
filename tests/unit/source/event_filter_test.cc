#include "source/event_filter.h"

#include <gtest/gtest.h>

#include <array>

namespace tidemark::source {
namespace {

TEST(EventFilter, AsksForAllUnlessTold) {
  EXPECT_EQ(alloc_event_filter({}), "");
  EXPECT_EQ(free_event_filter({}), "");
}

TEST(EventFilter, JoinsWhatIsAskedOfAnAllocation) {
  TraceOptions options;
  options.filter.least_order = 3;
  options.filter.most_order = 9;
  options.filter.wanted_gfp_bits = 0x22;
  options.filter.unwanted_gfp_bits = 0x408;
  EXPECT_EQ(alloc_event_filter(options),
            "order >= 3 && order <= 9 && gfp_flags & 2 && gfp_flags & 32 && "
            "!(gfp_flags & 1032)");
  EXPECT_EQ(free_event_filter(options), "") << "a free has no flags";
}

TEST(EventFilter, KnowsTheHighestFlag) {
  TraceOptions options;
  options.filter.wanted_gfp_bits = 0x80000000;
  EXPECT_EQ(alloc_event_filter(options), "gfp_flags & 2147483648");
}

TEST(EventFilter, ASampleIsTakenOfAllocationsAndFreesAlike) {
  TraceOptions options;
  options.sample_period = 4;
  const std::string both =
      "(order > 0 || (pfn & 1 && pfn & 512) || !(pfn & 1 || pfn & 512)) && "
      "(order > 1 || (pfn & 2 && pfn & 1024) || !(pfn & 2 || pfn & 1024))";
  EXPECT_EQ(alloc_event_filter(options), both);
  EXPECT_EQ(free_event_filter(options), both);
}

TEST(FrameSample, HasOneFrameInItsPeriod) {
  for (const uint64_t period : {1U, 2U, 16U, 1024U}) {
    const FrameSample sample(period);
    uint64_t count = 0;
    for (uint64_t frame = 0; frame < 8192; ++frame)
      count += sample.has(frame) ? 1 : 0;
    EXPECT_EQ(count * period, 8192U) << period;
  }
}

// The allocator prefers some last bits over others.
TEST(FrameSample, HasAllLastBitsAlike) {
  const FrameSample sample(16);
  std::array<int, 16> count{};
  for (uint64_t frame = 0; frame < 16 * 512; ++frame)
    count[frame % 16] += sample.has(frame) ? 1 : 0;
  for (const int each : count)
    EXPECT_EQ(each, 32);
}

TEST(FrameSample, ABlockIsAskedForWhenItHasAFrameOfIt) {
  const FrameSample sample(16);
  for (uint32_t order = 0; order <= 10; ++order) {
    const uint64_t size = uint64_t{1} << order;
    for (uint64_t first = 0; first < 16384; first += size) {
      bool has_any = false;
      for (uint64_t frame = first; frame < first + size; ++frame)
        has_any = has_any || sample.has(frame);
      EXPECT_EQ(sample.has_any(first, order), has_any) << first << " " << order;
    }
  }
  EXPECT_TRUE(sample.has_any(0, 64));
}

}  // namespace
}  // namespace tidemark::source
