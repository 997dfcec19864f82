#include "view/text/page_owner.h"

#include <gtest/gtest.h>

#include "unit/view/page_owner_example.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

TEST(PageOwnerText, ShowsEachGroupWithItsStack) {
  const std::string text = page_owner_text(page_owner_example(), TextStyle());
  EXPECT_NE(text.find("2.00M in 512 pages, 3 blocks, since 1.500 s\n"
                      "    alloc_pages+0x1/0x2\n"
                      "    loop_add+0x17d/0x320 [loop]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("40.0K in 4 more groups\n"), std::string::npos) << text;
  EXPECT_NE(text.find("2.04M in 523 pages, 9 blocks: 1.00M of slabs\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("8.00K in 1 block not selected\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("1 record cut off or unreadable, left out\n"),
            std::string::npos)
      << text;
}

TEST(PageOwnerText, IsATableWithoutStacks) {
  analysis::PageOwnerReport report = page_owner_example();
  report.group_by = {};
  report.group_by.by_tgid = true;
  const std::string text = page_owner_text(report, TextStyle());
  EXPECT_NE(text.find("2.00M    512       3"), std::string::npos) << text;
  EXPECT_EQ(text.find("loop_add"), std::string::npos) << text;
}

TEST(PageOwnerText, StrangersNamesDoNotActAndLinesFit) {
  for (const bool by_stack : {true, false}) {
    analysis::PageOwnerReport report = page_owner_example();
    report.group_by.by_stack = by_stack;
    const std::string text = page_owner_text(report, TextStyle());
    EXPECT_TRUE(is_harmless(text)) << text;
    EXPECT_NE(text.find("\\x1b[31m"), std::string::npos) << text;
    EXPECT_LE(widest_line(text), 80U) << text;
  }
}

TEST(PageOwnerText, NothingIsShownAsNothing) {
  analysis::PageOwnerReport report;
  report.group_by.by_stack = true;
  EXPECT_EQ(page_owner_text(report, TextStyle()), "0 in 0 pages, 0 blocks\n");
}

}  // namespace
}  // namespace tidemark::view
