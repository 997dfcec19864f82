#include "parse/trace_flags.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tidemark::parse {
namespace {

uint64_t bits_of(const std::vector<TraceFlag>& flags, std::string_view name) {
  const auto at = std::ranges::find(flags, name, &TraceFlag::name);
  return at == flags.end() ? UINT64_MAX : at->bits;
}

// As 6.1 writes them.
TEST(TraceFlags, ReadsPlainNumbers) {
  const std::vector<TraceFlag> flags = parse_trace_flags(
      "print fmt: \"page=%p gfp_flags=%s\", REC->pfn != -1UL ? 1 : 0, "
      "(REC->gfp_flags) ? __print_flags(REC->gfp_flags, \"|\", "
      "{( unsigned long)(((( gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u)) & "
      "~(( gfp_t)(0x400u|0x800u))), \"GFP_NORECLAIM\"}, "
      "{( unsigned long)(( gfp_t)0x08u), \"__GFP_MOVABLE\"}, "
      "{( unsigned long)(( gfp_t)0x800000u), \"__GFP_ZEROTAGS\"} ) : \"none\"");
  EXPECT_EQ(flags.size(), 3U);
  EXPECT_EQ(bits_of(flags, "GFP_NORECLAIM"), 0x40U);
  EXPECT_EQ(bits_of(flags, "__GFP_MOVABLE"), 8U);
  EXPECT_EQ(bits_of(flags, "__GFP_ZEROTAGS"), 0x800000U);
}

// As 6.12 and 6.18 write them.
TEST(TraceFlags, ReadsShiftedBits) {
  const std::vector<TraceFlag> flags = parse_trace_flags(
      "__print_flags(REC->gfp_flags, \"|\", "
      "{( unsigned long)((( gfp_t)((((1UL))) << (5)))|(( gfp_t)((((1UL))) << "
      "(11)))), \"GFP_ATOMIC\"}, {( unsigned long)(( gfp_t)((((1UL))) << "
      "(3))), \"__GFP_MOVABLE\"}, { 0, ((void *)0) } ) : \"none\"");
  EXPECT_EQ(flags.size(), 2U);
  EXPECT_EQ(bits_of(flags, "GFP_ATOMIC"), 0x820U);
  EXPECT_EQ(bits_of(flags, "__GFP_MOVABLE"), 8U);
}

TEST(TraceFlags, LeavesOutWhatItCannotTell) {
  const std::vector<TraceFlag> flags = parse_trace_flags(
      "__print_flags(x, \"|\", {(1UL) << (___GFP_DMA_BIT), \"__GFP_DMA\"}, "
      "{1 << 64, \"FAR\"}, {1 +, \"ODD\"}, {, \"NONE\"}, {(1, \"OPEN\"}, "
      "{2, \"\"}, {4, \"__GFP_DMA32\"}, {8, \"CUT");
  EXPECT_EQ(flags, (std::vector<TraceFlag>{{"__GFP_DMA32", 4}}));
}

TEST(TraceFlags, TellsNothingOfOtherFormats) {
  EXPECT_TRUE(parse_trace_flags("").empty());
  EXPECT_TRUE(parse_trace_flags("print fmt: \"a=%d\", REC->a").empty());
  EXPECT_TRUE(parse_trace_flags("__print_flags(").empty());
  const std::string deep = "__print_flags(x, {" + std::string(5000, '(') + "1" +
                           std::string(5000, ')') + ", \"DEEP\"}";
  EXPECT_TRUE(parse_trace_flags(deep).empty());
}

}  // namespace
}  // namespace tidemark::parse
