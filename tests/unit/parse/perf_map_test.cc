#include "parse/perf_map.h"

#include <gtest/gtest.h>

namespace tidemark::parse {
namespace {

TEST(PerfMap, ReadsPlacesAndNamesWithBlanksInThem) {
  const std::vector<PerfMapLine> lines = parse_perf_map(
      "7f00 40 LazyCompile:*fill /srv/a.js:3\n"
      "8000 1 stub\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0],
            (PerfMapLine{0x7f00, 0x40, "LazyCompile:*fill /srv/a.js:3"}));
  EXPECT_EQ(lines[1], (PerfMapLine{0x8000, 1, "stub"}));
}

TEST(PerfMap, SkipsWhatIsNoLineOrNotCompleteYet) {
  const std::vector<PerfMapLine> lines = parse_perf_map(
      "zz 10 a\n10 zz b\n10 0 empty\n10 10\n10 10 \n\n"
      "20 8 good\n30 8 half-writ");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].name, "good");
  EXPECT_TRUE(parse_perf_map("40 8 no newline").empty());
}

TEST(PerfMap, KeepsNoNameThatIsAsLongAsAFile) {
  const std::string text = "10 8 " + std::string(100'000, 'x') + "\n";
  const std::vector<PerfMapLine> lines = parse_perf_map(text);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].name.size(), 512U);
}

}  // namespace
}  // namespace tidemark::parse
