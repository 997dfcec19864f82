#include "view/text/maps.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "unit/view/examples.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

using analysis::MapsRegion;
using analysis::MapsReport;
using model::Mapping;
using model::RegionKind;

constexpr MapsTextOptions kExplain{.explain = true};
constexpr MapsTextOptions kSummary{.summary_only = true};

MapsRegion heap_at(uint64_t start) {
  return region_of(RegionKind::BrkHeap, "[heap]",
                   {mapping_at(start, "[heap]")});
}

std::string text_of(const MapsReport& report) {
  return maps_text(report, {}, TextStyle{});
}

// The line of the only region.
std::string region_line(const MapsRegion& region) {
  return lines_of(text_of(maps_report({region}))).at(2);
}

// ---- the grammar ------------------------------------------------------------

TEST(MapsText, OpensWithTheAddressSpaceAndItsSpan) {
  EXPECT_EQ(text_of(maps_report({heap_at(0x1000000)})),
            "/A ________01000000-________01004000     16.0K:sz 8.00K:res "
            "8.00K:pss 8.00K:priv 'postgres'\n"
            "/R ________01000000-________01004000     16.0K:sz 8.00K:res "
            "8.00K:pss 8.00K:priv 'mappings'\n"
            "M  ________01000000-________01004000 rw- 16.0K:sz 8.00K:res "
            "8.00K:pss 8.00K:priv '[heap]'\n");
}

TEST(MapsText, AnAddressFrom4GiBOnHasAllItsDigits) {
  EXPECT_TRUE(region_line(heap_at(0xffffc000))
                  .starts_with("M  ________ffffc000-0000000100000000 rw- "));
}

TEST(MapsText, SeveralMappingsAreARegionWithItsParts) {
  const MapsRegion image = region_of(
      RegionKind::Image, "postgres",
      {mapping_at(0x400000, "/usr/bin/postgres"), mapping_at(0x404000, "")});
  const std::vector<std::string> lines =
      lines_of(text_of(maps_report({image})));
  EXPECT_EQ(lines.at(2),
            "R  ________00400000-________00408000     32.0K:sz 16.0K:res "
            "16.0K:pss 16.0K:priv 'postgres'");
  EXPECT_EQ(lines.at(3),
            " M ________00400000-________00404000 rw- 16.0K:sz 8.00K:res "
            "8.00K:pss 8.00K:priv '/usr/bin/postgres'");
  EXPECT_EQ(lines.at(4),
            " M ________00404000-________00408000 rw- 16.0K:sz 8.00K:res "
            "8.00K:pss 8.00K:priv 'postgres bss'");
}

TEST(MapsText, AFileHasTheObjectBehindIt) {
  Mapping mapping = mapping_at(0x400000, "/srv/db");
  mapping.device_major = 0xfe;
  mapping.device_minor = 1;
  mapping.inode_id = 77;
  EXPECT_TRUE(region_line(region_of(RegionKind::File, "db", {mapping}))
                  .ends_with("8.00K:priv fe:01:77:obj '/srv/db'"));
}

TEST(MapsText, HugePagesCountAsResidentAndPrivate) {
  Mapping mapping = mapping_at(0x400000, "/anon_hugepage");
  mapping.end_address = 0x400000 + 2 * kMiB;
  mapping.fields.clear();
  mapping.fields.set(model::SmapsField::PrivateHugetlb, 2 * kMiB);
  EXPECT_TRUE(
      region_line(region_of(RegionKind::HugeTlb, "anon_hugepage", {mapping}))
          .ends_with(" rw- 2.00M:sz 2.00M:res 2.00M:pss 2.00M:priv "
                     "'/anon_hugepage'"));
}

TEST(MapsText, SwapIsShownOnEveryLineOnceThereIsSome) {
  Mapping swapped = mapping_at(0x2000000, "[stack]");
  swapped.fields.set(model::SmapsField::SwapPss, 4 * kKiB);
  MapsReport report =
      maps_report({heap_at(0x1000000),
                   region_of(RegionKind::MainStack, "[stack]", {swapped})});
  report.total.swap_pss_bytes = 4 * kKiB;
  const std::vector<std::string> lines = lines_of(text_of(report));
  EXPECT_TRUE(lines.at(2).ends_with(" 8.00K:priv     0:swap '[heap]'"))
      << lines.at(2);
  EXPECT_TRUE(lines.at(3).ends_with(" 8.00K:priv 4.00K:swap '[stack]'"))
      << lines.at(3);
}

TEST(MapsText, NumbersWiderThanTheirColumnStayApart) {
  Mapping mapping = mapping_at(0x1000000, "[heap]");
  mapping.end_address = mapping.start_address + 100 * kMiB;
  TextStyle style;
  style.unit = base::SizeUnit::KiB;
  const MapsReport report =
      maps_report({region_of(RegionKind::BrkHeap, "[heap]", {mapping})});
  EXPECT_TRUE(lines_of(maps_text(report, {}, style))
                  .at(2)
                  .ends_with(" rw- 102400K:sz    8K:res    8K:pss    8K:priv "
                             "'[heap]'"))
      << maps_text(report, {}, style);
}

// ---- names of mappings without one ------------------------------------------

MapsRegion stack_of_thread(int32_t thread_id) {
  Mapping guard = mapping_at(0x7f0000000000, "");
  guard.permissions = {};
  MapsRegion region = region_of(RegionKind::ThreadStack, "pool",
                                {guard, mapping_at(0x7f0000004000, "")});
  region.thread_id = thread_id;
  return region;
}

TEST(MapsText, AThreadsStackIsNamedAfterItsThread) {
  const std::vector<std::string> lines =
      lines_of(text_of(maps_report({stack_of_thread(43)})));
  EXPECT_TRUE(lines.at(2).ends_with("'stack of t:43 pool'")) << lines.at(2);
  EXPECT_TRUE(lines.at(4).ends_with("'stack of t:43 pool'")) << lines.at(4);
}

TEST(MapsText, AStackToldByItsShapeNamesNoThread) {
  EXPECT_TRUE(region_line(stack_of_thread(0)).ends_with("'stack of a thread'"));
}

TEST(MapsText, TheUntouchablePartOfAStackIsItsGuard) {
  const std::vector<std::string> lines =
      lines_of(text_of(maps_report({stack_of_thread(43)})));
  EXPECT_TRUE(lines.at(3).ends_with("'guard'")) << lines.at(3);
}

TEST(MapsText, NamelessMappingsSayWhatTheyAre) {
  const auto name_of = [](RegionKind kind, bool can_read) {
    Mapping mapping = mapping_at(0x1000000, "");
    mapping.permissions = {.read = can_read};
    const std::string line = region_line(region_of(kind, "", {mapping}));
    return line.substr(line.find('\''));
  };
  EXPECT_EQ(name_of(RegionKind::Anonymous, true), "'anonymous'");
  EXPECT_EQ(name_of(RegionKind::Arena, true), "'malloc arena'");
  EXPECT_EQ(name_of(RegionKind::Arena, false), "'arena reserve'");
  EXPECT_EQ(name_of(RegionKind::Jit, true), "'generated code'");
  EXPECT_EQ(name_of(RegionKind::Reservation, false), "'reserved'");
}

// ---- --explain --------------------------------------------------------------

TEST(MapsExplain, SaysItOnceForEachKind) {
  const std::string text =
      maps_text(maps_report({heap_at(0x1000000), heap_at(0x2000000),
                             region_of(RegionKind::MainStack, "[stack]",
                                       {mapping_at(0x3000000, "[stack]")})}),
                kExplain, TextStyle{});
  size_t remarks = 0;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("# ")) ++remarks;
  }
  // Both explanations are short enough for a line each.
  EXPECT_EQ(remarks, 2U) << text;
}

TEST(MapsExplain, StandsBeforeTheFirstOfItsKind) {
  const std::vector<std::string> lines = lines_of(
      maps_text(maps_report({heap_at(0x1000000)}), kExplain, TextStyle{}));
  EXPECT_TRUE(lines.at(2).starts_with("# ")) << lines.at(2);
  EXPECT_TRUE(lines.at(3).ends_with("'[heap]'")) << lines.at(3);
}

TEST(MapsExplain, RemarksKeepTo80Columns) {
  for (size_t kind = 0; kind <= static_cast<size_t>(RegionKind::Vdso); ++kind) {
    const MapsRegion region = region_of(static_cast<RegionKind>(kind), "name",
                                        {mapping_at(0x1000000, "name")});
    for (const std::string& line :
         lines_of(maps_text(maps_report({region}), kExplain, TextStyle{}))) {
      if (line.starts_with('#')) {
        EXPECT_LE(line.size(), 80U) << line;
      }
    }
  }
}

// ---- --summary --------------------------------------------------------------

TEST(MapsSummary, AddsUpByKindOfMemory) {
  EXPECT_EQ(
      maps_text(maps_report({heap_at(0x1000000), heap_at(0x2000000)}), kSummary,
                TextStyle{}),
      "p:42 postgres\n\n"
      "                       MAPPINGS      SIZE       RSS       PSS   PRIVATE "
      " SWAP\n"
      "heap                          2     32.0K     16.0K     16.0K     16.0K "
      "    0\n"
      "sum                           2     32.0K     16.0K     16.0K     16.0K "
      "    0\n"
      "\n"
      "VmRSS in status 16.0 KiB: the same\n"
      "page tables 52.0 KiB, beside the sum\n");
}

std::string comparison_with(uint64_t status_rss_bytes) {
  MapsReport report = maps_report({heap_at(0x1000000)});
  report.status_rss_bytes = status_rss_bytes;
  return maps_text(report, kSummary, TextStyle{});
}

TEST(MapsSummary, SaysHowMuchMoreStatusHas) {
  EXPECT_NE(comparison_with(12 * kKiB).find(
                "\nVmRSS in status 12.0 KiB: +4.00 KiB against the sum "
                "of RSS\n"),
            std::string::npos)
      << comparison_with(12 * kKiB);
}

TEST(MapsSummary, SaysHowMuchLessStatusHas) {
  EXPECT_NE(comparison_with(4 * kKiB).find(
                "\nVmRSS in status 4.00 KiB: -4.00 KiB against the sum "
                "of RSS\n"),
            std::string::npos)
      << comparison_with(4 * kKiB);
}

TEST(MapsSummary, LeavesOutWhatStatusDidNotTell) {
  MapsReport report = maps_report({heap_at(0x1000000)});
  report.status_rss_bytes.reset();
  report.page_table_bytes.reset();
  const std::string text = maps_text(report, kSummary, TextStyle{});
  EXPECT_TRUE(lines_of(text).back().empty()) << text;
}

TEST(MapsSummary, SaysWhichStacksWereGuessed) {
  MapsReport report = maps_report({heap_at(0x1000000)});
  report.thread_count = 5;
  report.unlocated_thread_count = 2;
  EXPECT_TRUE(maps_text(report, kSummary, TextStyle{})
                  .ends_with("\n2 of 5 threads were running: their stacks are "
                             "told by shape\n"));
}

// ---- names of strangers -----------------------------------------------------

TEST(MapsText, NamesAreEscaped) {
  EXPECT_TRUE(
      region_line(region_of(RegionKind::File, "x",
                            {mapping_at(0x400000, "/tmp/\x1b[2J\u202e\xff")}))
          .ends_with(R"('/tmp/\x1b[2J\u202e\xff')"));
}

std::string all_forms(const MapsReport& report) {
  return maps_text(report, kExplain, TextStyle{}) +
         maps_text(report, kSummary, TextStyle{});
}

RC_GTEST_PROP(MapsTextProperty, HostileNamesCannotControlTheTerminal, ()) {
  RC_ASSERT(is_harmless(all_forms(hostile_maps_report(*hostile_name()))));
}

RC_GTEST_PROP(MapsTextProperty, HostileNamesAddNoLine, ()) {
  RC_ASSERT(line_count(all_forms(hostile_maps_report(*hostile_name()))) ==
            line_count(all_forms(hostile_maps_report("tame"))));
}

}  // namespace
}  // namespace tidemark::view
