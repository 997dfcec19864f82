#include "view/text/allocinfo.h"

#include <gtest/gtest.h>

#include "unit/view/allocinfo_example.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

TEST(AllocinfoText, ListsPlacesAndSaysWhatWasLeftOut) {
  const std::string text =
      allocinfo_text(allocinfo_example(false), TextStyle());
  for (const char* part :
       {"21.1M", "page_cache_ra_unbounded mm/readahead.c:263",
        "1.00K in 3 more\n",
        "RAM in use: 30.0M = 21.1M held + 8.88M not told here\n",
        "left out: 5.43M of slab pages", "left out: 1.25M at 1 place without",
        "*: the kernel has missed some here\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("GREW"), std::string::npos) << text;
}

TEST(AllocinfoText, ShowsGrowth) {
  const std::string text = allocinfo_text(allocinfo_example(true), TextStyle());
  EXPECT_NE(text.find("GREW"), std::string::npos) << text;
  EXPECT_NE(text.find("21.1M   4.00K"), std::string::npos) << text;
  EXPECT_NE(text.find("-8.00K"), std::string::npos) << text;
  EXPECT_NE(text.find("grew by -4.00K"), std::string::npos) << text;
}

TEST(AllocinfoText, ListsModules) {
  analysis::AllocinfoReport report = allocinfo_example(false);
  report.group_by = analysis::AllocinfoGrouping::Module;
  const std::string text = allocinfo_text(report, TextStyle());
  EXPECT_NE(text.find("the kernel itself"), std::string::npos) << text;
  EXPECT_NE(text.find("mod\\xff"), std::string::npos) << text;
}

TEST(AllocinfoText, StrangersNamesDoNotActAndLinesFit) {
  for (const bool has_growth : {true, false}) {
    const std::string text =
        allocinfo_text(allocinfo_example(has_growth), TextStyle());
    EXPECT_TRUE(is_harmless(text)) << text;
    EXPECT_LE(widest_line(text), 80U) << text;
  }
}

}  // namespace
}  // namespace tidemark::view
