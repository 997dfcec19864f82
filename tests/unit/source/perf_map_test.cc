#include "source/perf_map.h"

#include <gtest/gtest.h>

namespace tidemark::source {
namespace {

TEST(PerfMapNames, AnAddressHasTheNameOfWhatItLiesIn) {
  const PerfMap map({{0x1000, 0x10, "first"}, {0x2000, 0x10, "second"}});
  EXPECT_EQ(map.name_of(0x1000), "first");
  EXPECT_EQ(map.name_of(0x100f), "first");
  EXPECT_EQ(map.name_of(0x1010), "");
  EXPECT_EQ(map.name_of(0xfff), "");
  EXPECT_EQ(map.name_of(0x2001), "second");
}

TEST(PerfMapNames, CodeThatIsMadeAnewHasItsNewName) {
  const PerfMap map({{0x1000, 0x10, "slow"}, {0x1000, 0x10, "fast"}});
  EXPECT_EQ(map.name_of(0x1004), "fast");
  EXPECT_EQ(map.size(), 1U);
}

}  // namespace
}  // namespace tidemark::source
