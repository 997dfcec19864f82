#include "view/text/get.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "unit/view/examples.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

using analysis::GetReport;

const GetTextOptions kVerbose{true};

std::string text_of(const GetReport& report) {
  return get_text(report, {}, TextStyle{});
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(GetText, OneOtherProcessIsSingular) {
  const std::string text = text_of(
      get_report({get_process(42, "postgres"), get_process(43, "worker")}));
  EXPECT_TRUE(text.starts_with("p:42 postgres and 1 other\n\n")) << text;
}

TEST(GetText, ManyOthersAreCountedInThousands) {
  const std::vector<analysis::GetProcess> many(1205, get_process(42, "fork"));
  const std::string text = text_of(get_report(many));
  EXPECT_TRUE(text.starts_with("p:42 fork and 1,204 others\n\n")) << text;
}

TEST(GetText, NamesHugePagesThatAreInTheHeadline) {
  GetReport report = get_report({get_process(42, "postgres")});
  report.total.hugetlb = model::amount_of(2 * kMiB);
  EXPECT_TRUE(has_line(text_of(report),
                       "  in RAM        8.00 MiB  PSS 6.00 MiB + huge pages "
                       "2.00 MiB"))
      << text_of(report);
}

TEST(GetText, WithoutHugePagesTheNoteExplainsPss) {
  const std::string text = text_of(get_report({get_process(42, "postgres")}));
  EXPECT_TRUE(has_line(text,
                       "  in RAM        6.00 MiB  PSS: shared pages divided "
                       "by their users"))
      << text;
}

TEST(GetText, ASumOverADeniedProcessIsALowerBound) {
  const std::string text = text_of(get_report(
      {get_process(42, "postgres"), denied_get_process(43, "sshd")}));
  EXPECT_TRUE(has_line(text,
                       "  in RAM       ≥ 6.00 MiB  PSS: shared pages divided "
                       "by their users"))
      << text;
}

TEST(GetText, WhatIsKnownOfADeniedProcessIsNoLowerBound) {
  const std::string text = text_of(get_report(
      {get_process(42, "postgres"), denied_get_process(43, "sshd")}));
  EXPECT_TRUE(has_line(text,
                       "  RSS            14.0 MiB  counts shared pages once "
                       "for each process"))
      << text;
}

TEST(GetText, ADeniedProcessIsNamedWithItsReason) {
  GetReport report = get_report({denied_get_process(43, "sshd")});
  report.denied_hint = "run as root";
  EXPECT_TRUE(text_of(report).ends_with(
      "\nPSS of p:43 sshd is unknown: denied: /proc/43/smaps: Permission "
      "denied\n"
      "  RSS is from statm, which anyone may read\n"
      "  hint: run as root\n"))
      << text_of(report);
}

TEST(GetText, AKernelWithoutTheSplitPrintsNone) {
  GetReport report = get_report({get_process(42, "postgres")});
  for (model::Amount* part : {&report.total.pss_anon, &report.total.pss_file,
                              &report.total.pss_shmem}) {
    *part = model::amount_of(std::nullopt);
  }
  EXPECT_EQ(text_of(report).find("anon"), std::string::npos) << text_of(report);
}

TEST(GetText, AnUnknownHighWaterMarkIsLeftOut) {
  GetReport report = get_report({get_process(42, "postgres")});
  report.processes[0].peak_rss_bytes.reset();
  EXPECT_EQ(text_of(report).find("peak RSS"), std::string::npos);
}

TEST(GetText, TheHighWaterMarkMayBeLeftOut) {
  const GetReport report = get_report({get_process(42, "postgres")});
  EXPECT_EQ(get_text(report, {.with_peak = false}, TextStyle{}).find("peak"),
            std::string::npos);
}

TEST(GetText, TheHighWaterMarkMayStandAlone) {
  const GetReport report = get_report({get_process(42, "postgres")});
  EXPECT_EQ(get_text(report, {.only_peak = true}, TextStyle{}),
            "peak RSS   9.00 MiB  VmHWM, since the program started\n");
}

TEST(GetText, ATreeHasNoHighWaterMark) {
  const std::string text = text_of(
      get_report({get_process(42, "postgres"), get_process(43, "worker")}));
  EXPECT_EQ(text.find("peak RSS"), std::string::npos) << text;
}

TEST(GetText, CategoriesThatExceedTheTotalLeaveANegativeRest) {
  GetReport report = get_report({get_process(42, "postgres")});
  analysis::CategoryUse heap;
  heap.category = model::Category::Heap;
  heap.pss_bytes = 6 * kMiB + 4 * kKiB;
  report.categories = {heap};
  const std::string text = get_text(report, kVerbose, TextStyle{});
  EXPECT_TRUE(has_line(text, "not explained          -4.00 KiB")) << text;
}

TEST(GetText, KeepsToTheUnitThatWasAskedFor) {
  TextStyle style;
  style.unit = base::SizeUnit::KiB;
  const std::string text =
      get_text(get_report({get_process(42, "postgres")}), {}, style);
  EXPECT_TRUE(has_line(text, "  swapped out   2048 KiB  beside it, not in RAM"))
      << text;
}

TEST(GetText, NotesStandAtTheEnd) {
  GetReport report = get_report({get_process(42, "postgres")});
  report.notes = {"2 processes share huge pages"};
  EXPECT_TRUE(text_of(report).ends_with("\n\n2 processes share huge pages\n"))
      << text_of(report);
}

RC_GTEST_PROP(GetTextProperty, HostileNamesCannotControlTheTerminal, ()) {
  const GetReport report = hostile_get_report(*hostile_name());
  RC_ASSERT(is_harmless(get_text(report, kVerbose, TextStyle{})));
  RC_ASSERT(is_harmless(get_watch_line(report, kVerbose, TextStyle{})));
  RC_ASSERT(is_harmless(get_memstat_text(report, true, false)));
}

RC_GTEST_PROP(GetTextProperty, HostileNamesAddNoLine, ()) {
  const std::string name = *hostile_name();
  const auto lines = [](const std::string& of) {
    const GetReport report = hostile_get_report(of);
    return line_count(get_text(report, kVerbose, TextStyle{})) +
           line_count(get_watch_line(report, kVerbose, TextStyle{})) +
           line_count(get_memstat_text(report, true, false));
  };
  RC_ASSERT(lines(name) == lines("tame"));
}

// ---- a watch ----------------------------------------------------------------

TEST(GetWatch, ALineStandsUnderItsHead) {
  const GetReport report = get_report({get_process(42, "postgres")});
  EXPECT_EQ(
      get_watch_head(TextStyle{}) + get_watch_line(report, {}, TextStyle{}),
      "TIME           IN RAM  PRIVATE      RSS     SWAP  PROCESSES\n"
      "08:11:08.123    6.00M    4.00M    7.00M    2.00M          1\n");
}

TEST(GetWatch, ALowerBoundMovesNoColumn) {
  const GetReport report =
      get_report({get_process(42, "postgres"), denied_get_process(43, "sshd")});
  EXPECT_EQ(get_watch_line(report, {}, TextStyle{}),
            "08:11:08.123   ≥6.00M   ≥4.00M    14.0M   ≥2.00M          2\n");
}

TEST(GetWatch, AnUnknownMovesNoColumn) {
  const GetReport report = get_report({denied_get_process(43, "sshd")});
  EXPECT_EQ(get_watch_line(report, {}, TextStyle{}),
            "08:11:08.123        ?        ?    7.00M        ?          1\n");
}

TEST(GetWatch, ProcessesStandUnderTheirSum) {
  analysis::GetProcess child = get_process(43, "worker");
  child.depth = 1;
  const GetReport report = get_report({get_process(42, "postgres"), child});
  EXPECT_EQ(get_watch_line(report, kVerbose, TextStyle{}),
            "08:11:08.123    12.0M    8.00M    14.0M    4.00M          2\n"
            "  p:42          6.00M    4.00M    7.00M    2.00M  postgres\n"
            "    p:43        6.00M    4.00M    7.00M    2.00M  worker\n");
}

TEST(GetWatch, NumbersWiderThanTheirColumnStayApart) {
  GetReport report = get_report({get_process(42, "postgres")});
  report.total.pss = model::amount_of(100 * kGiB);
  TextStyle style;
  style.unit = base::SizeUnit::Bytes;
  EXPECT_EQ(get_watch_line(report, {}, style),
            "08:11:08.123 107374182400B 4194304B 7340032B 2097152B          "
            "1\n");
}

TEST(GetWatch, ALongNameIsCutUnlessWide) {
  const std::string name(40, 'n');
  const GetReport report = get_report({get_process(42, name)});
  TextStyle wide;
  wide.wide = true;
  EXPECT_TRUE(get_watch_line(report, kVerbose, TextStyle{})
                  .ends_with("  " + std::string(29, 'n') + "…\n"));
  EXPECT_TRUE(get_watch_line(report, kVerbose, wide).ends_with(name + "\n"));
}

TEST(GetPeak, OneReadingIsSingular) {
  const GetReport report = get_report({get_process(42, "postgres")});
  EXPECT_EQ(get_peak_text(report, {1, 0, {}}, {}, TextStyle{}),
            "peak of 1 reading; between them it may have been higher\n"
            "08:11:08.123    6.00M    4.00M    7.00M    2.00M          1\n");
}

TEST(GetPeak, ManyReadingsAreCountedInThousands) {
  const GetReport report = get_report({get_process(42, "postgres")});
  EXPECT_TRUE(get_peak_text(report, {36'000, 0, {}}, {}, TextStyle{})
                  .starts_with("peak of 36,000 readings; "));
}

// ---- for scripts and memstat ------------------------------------------------

TEST(GetBytes, IsTheNumberAlone) {
  EXPECT_EQ(get_bytes_line(get_report({get_process(42, "postgres")})),
            "6291456\n");
}

TEST(GetBytes, CountsHugePages) {
  GetReport report = get_report({get_process(42, "postgres")});
  report.total.hugetlb = model::amount_of(2 * kMiB);
  EXPECT_EQ(get_bytes_line(report), "8388608\n");
}

TEST(GetBytes, AnUnknownIsAQuestionMark) {
  EXPECT_EQ(get_bytes_line(get_report({denied_get_process(43, "sshd")})),
            "?\n");
}

TEST(GetMemstat, PrintsTheTotalInUnitsOf1024) {
  EXPECT_EQ(
      get_memstat_text(get_report({get_process(42, "postgres")}), false, false),
      "Total: 6144 kB\n");
}

TEST(GetMemstat, ShowsProcessesByDepthAndAnUnknownAsSuch) {
  analysis::GetProcess child = denied_get_process(43, "sshd");
  child.depth = 1;
  const GetReport report = get_report({get_process(42, "postgres"), child});
  EXPECT_EQ(get_memstat_text(report, true, false),
            "[42] 6144 kB (postgres)\n"
            "  [43] ? (sshd)\n"
            "Total: 6144 kB\n");
}

TEST(GetMemstat, NamesAProcessByItsComm) {
  analysis::GetProcess process = get_process(42, "python3 style.py");
  process.comm = "python3";
  EXPECT_EQ(get_memstat_text(get_report({process}), true, false),
            "[42] 6144 kB (python3)\n"
            "Total: 6144 kB\n");
}

TEST(GetMemstat, InBytesTheTotalIsABareNumber) {
  EXPECT_EQ(
      get_memstat_text(get_report({get_process(42, "postgres")}), true, true),
      "[42] 6291456 (postgres)\n"
      "6291456\n");
}

}  // namespace
}  // namespace tidemark::view
