#include "view/text/system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "unit/view/system_example.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

using analysis::SystemColumn;
using analysis::SystemReport;

TextStyle style_of(size_t width) {
  TextStyle style;
  style.width = width;
  return style;
}

SystemLayout layout_of(const SystemReport& report, size_t width,
                       bool with_time = false) {
  return system_layout(report, {}, with_time, style_of(width));
}

std::string head_of(const SystemReport& report, size_t width) {
  return system_head(layout_of(report, width), style_of(width));
}

TEST(SystemText, KeepsColumnsApartWhereThereIsRoom) {
  EXPECT_EQ(head_of(system_example(), 200),
            "TOTAL  FREE   PCP  ANON  FILE SHMEM  SLAB SLACK  PTAB STACK "
            "VMALLOC PERCPU   NET WIRED  OTHER  DRIFT\n");
}

TEST(SystemText, FitsEightyColumns) {
  const SystemReport report = system_example();
  const SystemLayout layout = layout_of(report, 80);
  EXPECT_EQ(
      system_head(layout, style_of(80)),
      "TOTAL  FREE  ANON  FILE SHMEM  SLAB SLACK  PTAB  KERN   NET WIRED  "
      "OTHER  DRIFT\n");
  EXPECT_EQ(system_line(report, layout, style_of(80)),
            "1.00G  420M  290M  160M 50.0M 46.1M 3.91M 5.00M 11.0M 1.00M 24.0M "
            " 13.0M      0\n");
}

// Whatever is summed up where, a line shows every column once.
TEST(SystemText, FoldsWithoutLosingAColumn) {
  SystemReport report = system_example();
  for (SystemColumn column :
       {SystemColumn::FreeUninitialised, SystemColumn::HugeTlb,
        SystemColumn::Compressed, SystemColumn::Balloon}) {
    report.columns[static_cast<size_t>(column)].bytes =
        model::known<int64_t>(1 << 20);
  }
  for (size_t width = 40; width < 160; ++width) {
    for (bool with_time : {false, true}) {
      std::vector<SystemColumn> seen;
      const SystemLayout layout = layout_of(report, width, with_time);
      for (const SystemLayout::Group& group : layout.groups) {
        seen.insert(seen.end(), group.columns.begin(), group.columns.end());
      }
      EXPECT_EQ(seen.size(), analysis::kSystemColumnCount) << width;
      std::ranges::sort(seen);
      EXPECT_TRUE(std::ranges::adjacent_find(seen) == seen.end()) << width;
      if (width < 80) continue;
      EXPECT_LE(widest_line(system_head(layout, style_of(width))), width);
      EXPECT_LE(widest_line(system_line(report, layout, style_of(width))),
                width);
    }
  }
}

TEST(SystemText, ASeldomColumnComesWithItsFirstByteAndStays) {
  SystemReport report = system_example();
  SystemLayout layout = layout_of(report, 200);
  const size_t usual = layout.groups.size();
  analysis::SystemValue& huge =
      report.columns[static_cast<size_t>(SystemColumn::HugeTlb)];
  huge.bytes = model::known<int64_t>(2 << 20);
  layout = system_layout(report, layout, false, style_of(200));
  EXPECT_EQ(layout.groups.size(), usual + 1);
  huge.bytes = model::known<int64_t>(0);
  layout = system_layout(report, layout, false, style_of(200));
  EXPECT_EQ(layout.groups.size(), usual + 1);
}

TEST(SystemText, ShowsWhatIsUnknownAndANegativeRest) {
  SystemReport report = system_example();
  report.columns[static_cast<size_t>(SystemColumn::Wired)].bytes =
      model::unknown<int64_t>("denied: \x1b[31m");
  report.other_bytes = -(3 << 20);
  report.other_change_bytes = 5 << 20;
  const std::string line =
      system_line(report, layout_of(report, 200), style_of(200));
  EXPECT_TRUE(line.ends_with("     ? -3.00M +5.00M\n")) << line;
  const std::string words = system_explanation(report, style_of(80));
  EXPECT_NE(words.find("unknown: denied: \\x1b[31m"), std::string::npos);
  EXPECT_NE(words.find("negative: something is counted twice"),
            std::string::npos);
  EXPECT_TRUE(is_harmless(words));
}

TEST(SystemText, BeginsWithTheTimeWhenAsked) {
  const SystemReport report = system_example();
  EXPECT_TRUE(system_line(report, layout_of(report, 200, true), style_of(200))
                  .starts_with("08:11:08.123 "));
}

TEST(SystemText, ExplainsEachColumnByItsFigures) {
  const std::string words = system_explanation(system_example(), style_of(80));
  EXPECT_NE(words.find("= Cached 200M - Shmem 50.0M + Buffers 10.0M (meminfo)"),
            std::string::npos)
      << words;
  EXPECT_LE(widest_line(words), 80U);
}

}  // namespace
}  // namespace tidemark::view
