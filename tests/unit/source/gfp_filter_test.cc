#include "source/gfp_filter.h"

#include <gtest/gtest.h>

#include <vector>

namespace tidemark::source {
namespace {

using base::ErrorKind;
using parse::TraceFlag;

// Some flags as 6.1 tells them; on other kernels they are other bits.
const std::vector<TraceFlag>& old_flags() {
  static const std::vector<TraceFlag> flags = {
      {"GFP_KERNEL", 0xcc0},        {"GFP_DMA", 0x1},
      {"__GFP_HIGHMEM", 0x2},       {"__GFP_MOVABLE", 0x8},
      {"__GFP_HIGH", 0x20},         {"__GFP_RECLAIMABLE", 0x10},
      {"__GFP_ZERO", 0x100},        {"__GFP_DIRECT_RECLAIM", 0x400},
      {"__GFP_BEYOND", 1ULL << 40},
  };
  return flags;
}

TEST(GfpFilter, ClassesAreBitsThatAreSetAndBitsThatAreNot) {
  const std::pair<const char*, GfpBits> expected[] = {
      {"movable", {0x8, 0}},
      {"reclaimable", {0x10, 0}},
      {"unmovable", {0, 0x18}},
      {"kernel", {0, 0xa}},
      {"highuser", {0x2, 0}},
      {"atomic", {0x20, 0x400}},
      {"nowait", {0, 0x420}},
      {"dma", {0x1, 0}},
      {"movable,highuser", {0xa, 0}},
      {"__GFP_ZERO", {0x100, 0}},
      {"GFP_KERNEL,unmovable", {0xcc0, 0x18}},
  };
  for (const auto& [words, bits] : expected) {
    base::Result<GfpBits> found = find_gfp_bits(old_flags(), words);
    ASSERT_TRUE(found) << words << ": " << found.error().what;
    EXPECT_EQ(*found, bits) << words;
  }
}

TEST(GfpFilter, AFlagTheKernelDoesNotTellIsSaidToBeMissing) {
  for (const char* words : {"dma32", "account"}) {
    base::Result<GfpBits> found = find_gfp_bits(old_flags(), words);
    ASSERT_FALSE(found) << words;
    EXPECT_EQ(found.error().kind, ErrorKind::Unsupported);
    EXPECT_NE(found.error().what.find("does not tell"), std::string::npos);
  }
  EXPECT_FALSE(find_gfp_bits({}, "movable"));
  EXPECT_FALSE(find_gfp_bits(old_flags(), "__GFP_BEYOND"));
}

TEST(GfpFilter, RefusesOtherWords) {
  for (const char* words :
       {"", "movabel", ",movable", "movable,unmovable", "MOVABLE"}) {
    base::Result<GfpBits> found = find_gfp_bits(old_flags(), words);
    ASSERT_FALSE(found) << words;
    EXPECT_EQ(found.error().kind, ErrorKind::Misused) << words;
  }
}

}  // namespace
}  // namespace tidemark::source
