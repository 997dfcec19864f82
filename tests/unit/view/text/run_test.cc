#include "view/text/run.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "unit/parts.h"
#include "unit/view/run_example.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

using analysis::RunReport;

std::string text_of(const RunReport& report) {
  return run_text(report, {}, TextStyle{});
}

using test::has;

// The first line that begins with this word, behind its indent.
std::string line_of(const std::string& text, std::string_view word) {
  for (const std::string& line : lines_of(text)) {
    if (base::trim(line).starts_with(word)) return line;
  }
  return "no line " + std::string(word);
}

// ---- the first line ---------------------------------------------------------

TEST(RunLine, IsTheCommandAndHowItEnded) {
  EXPECT_EQ(run_line(run_report(), TextStyle{}),
            "tidemark: make -j8                                              "
            " exit 0, 1.0 s\n");
}

TEST(RunLine, NamesTheSignal) {
  RunReport report = run_report();
  report.signal_number = SIGKILL;
  report.exit_status = 128 + SIGKILL;
  EXPECT_TRUE(run_line(report, TextStyle{})
                  .ends_with("  killed by signal 9 (Killed), 1.0 s\n"));
}

TEST(RunLine, CutsTheCommandAndNotItsEnding) {
  RunReport report = run_report();
  report.command = std::string(500, 'x');
  report.exit_status = 77;
  const std::string line = run_line(report, TextStyle{});
  EXPECT_TRUE(line.starts_with("tidemark: xxxxx"));
  EXPECT_TRUE(line.ends_with("x…  exit 77, 1.0 s\n")) << line;
  EXPECT_EQ(widest_line(line), 78U);
}

TEST(RunLine, WideCutsNothing) {
  RunReport report = run_report();
  report.command = std::string(500, 'x');
  TextStyle style;
  style.wide = true;
  EXPECT_TRUE(has(run_line(report, style), report.command));
}

TEST(RunLine, ACommandOfSeveralLinesIsOne) {
  RunReport report = run_report();
  report.command = "sh -c echo\nrm\x1b[2J";
  const std::string line = run_line(report, TextStyle{});
  EXPECT_TRUE(line.starts_with("tidemark: sh -c echo\\nrm\\x1b[2J ")) << line;
}

TEST(RunLine, LeavesTheEdgeOfANarrowTerminalFree) {
  TextStyle style;
  style.width = 40;
  EXPECT_LT(widest_line(run_line(run_report(), style)), 40U);
}

// ---- the whole --------------------------------------------------------------

TEST(RunText, IsHowMuchOfWhatWhoAndAtWhatPrice) {
  EXPECT_EQ(
      text_of(run_report()),
      run_line(run_report(), TextStyle{}) +
          "\n"
          "  peak        100 MiB  at 400 ms, memory.peak\n"
          "  seen       96.0 MiB  composition caught 2.0 ms before it: 96.0 % "
          "of the peak\n"
          "  RSS         150 MiB  highest sum, at 410 ms; shared pages repeat\n"
          "  PSS        90.0 MiB  highest of 31 captures\n"
          "  largest    70.0 MiB  one process: cc1plus, peak RSS (±768 "
          "KiB)\n"
          "\n"
          "  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁██████████████████████████████▅▅▅▅▅▅  100 "
          "MiB\n"
          "  0                       ▲ 400 ms                       1.0 s\n"
          "\n"
          "  at the peak                      PSS      %  mostly\n"
          "  heap                        80.0 MiB   80.0  cc1plus ×8, as, 3 "
          "others\n"
          "  program and libraries       20.0 MiB   20.0  libc.so.6\n"
          "  charged elsewhere          -5.00 MiB   -5.0  mapped here, first "
          "read by others\n"
          "  not explained               1.00 MiB    1.0  charged ahead, "
          "changed while read\n"
          "  not caught                  4.00 MiB    4.0  the peak rose above "
          "the capture\n"
          "  peak                         100 MiB  100.0\n"
          "\n"
          "  by mapping                       PSS      %  kind\n"
          "  [heap]                      80.0 MiB   80.0  heap ×9\n"
          "  libc.so.6                   20.0 MiB   20.0  program and "
          "libraries\n"
          "\n"
          "  who held it                      PSS\n"
          "  make                        2.00 MiB  p:42\n"
          "  ├ cc1plus ×8                70.0 MiB\n"
          "  └ as                        8.00 MiB  p:42\n"
          "\n"
          "  process                     own peak    at peak  lived\n"
          "  cc1plus ×8                  9.00 MiB   70.0 MiB  3.0 ms - 20 ms, "
          "8 at peak\n"
          "  make                        9.00 MiB          0  20 ms\n"
          "\n"
          "  cost: 0.7 % of a core, 31 captures in 12 ms, nothing stopped or "
          "frozen\n");
}

TEST(RunText, OurOwnWordsAreNotCut) {
  EXPECT_FALSE(has(text_of(run_report()), "…"));
}

TEST(RunText, InAsciiIsAscii) {
  const std::string text = run_text(hostile_run_report("tame"), {}, ascii());
  EXPECT_TRUE(std::ranges::all_of(text, [](char c) {
    return c == '\n' || (c >= ' ' && c <= '~');
  })) << text;
}

// ---- the headline -----------------------------------------------------------

TEST(RunText, ASampledPeakIsALowerBound) {
  RunReport report = run_report();
  report.method = model::RunMethod::Sampled;
  report.peak_is_charge = false;
  EXPECT_TRUE(has(text_of(report), "  peak      ≥ 100 MiB  "))
      << text_of(report);
  EXPECT_TRUE(has(run_text(report, {}, ascii()), "  peak      >= 100 MiB  "));
}

TEST(RunText, APeakThatSomebodyLeftIsALowerBoundAndNotCaught) {
  RunReport report = run_report();
  report.left_group_count = 1;
  report.coverage.reset();
  const std::string text = text_of(report);
  EXPECT_TRUE(has(text, "  peak      ≥ 100 MiB  ")) << text;
  EXPECT_TRUE(has(text, "how much of the peak is not known")) << text;
}

TEST(RunText, WithoutAGroupTheMeasureIsRss) {
  RunReport report = run_report();
  report.method = model::RunMethod::RssGate;
  report.peak_is_charge = false;
  const std::string text = text_of(report);
  EXPECT_TRUE(has(text, "  at the peak                      RSS      %"));
  EXPECT_TRUE(has(text, "  peak of the RSS sum          100 MiB  100.0\n"));
  EXPECT_EQ(line_of(text, "RSS "), "no line RSS ") << "it is the peak itself";
}

TEST(RunText, WithoutAPictureSaysSoAndShowsNoParts) {
  RunReport report = run_report();
  report.has_capture = false;
  report.captured_bytes = 0;
  report.coverage = 0.0;
  report.parts.clear();
  report.mappings.clear();
  const std::string text = text_of(report);
  EXPECT_EQ(line_of(text, "seen"),
            "  seen              ?  it ended before a look");
  EXPECT_FALSE(has(text, "at the peak  "));
}

TEST(RunText, IsNeverWholeWhileSomethingIsMissing) {
  RunReport report = run_report();
  report.coverage = 0.99999;
  EXPECT_TRUE(has(text_of(report), ": 99.9 % of the peak\n"));
  report.coverage = 1.0;
  EXPECT_TRUE(has(text_of(report), "caught at its full height\n"));
}

TEST(RunText, SaysOnWhichSideOfThePeakThePictureIs) {
  RunReport report = run_report();
  report.capture_after_ns = static_cast<int64_t>(3 * kMs);
  EXPECT_TRUE(has(text_of(report), "caught 3.0 ms after it: "));
  report.capture_after_ns.reset();
  EXPECT_TRUE(has(text_of(report), "composition caught: 96.0 %"));
}

TEST(RunText, SaysWhatIsWrongWithThePeakOfAProcess) {
  RunReport report = run_report();
  report.processes.erase(report.processes.begin());
  report.processes[0].life.peak_source = model::PeakSource::HighMark;
  EXPECT_TRUE(has(text_of(report), "peak RSS by taskstats, a little low\n"));
  report.processes[0].life.peak_source = model::PeakSource::MaxRss;
  EXPECT_TRUE(has(text_of(report), "peak RSS by wait4, or its parent's\n"));
  report.processes[0].life.peak_source = model::PeakSource::Sampled;
  EXPECT_TRUE(has(text_of(report), "cc1plus, peak RSS, highest seen\n"));
}

TEST(RunText, ASmallPeakIsExactAndHasNoBound) {
  RunReport report = run_report();
  report.processes[1].life.peak_rss_bytes = 64 * kMiB;
  EXPECT_TRUE(
      line_of(text_of(report), "largest").ends_with("cc1plus, peak RSS"));
}

TEST(RunText, SwapAndHugePagesStandBesideThePeak) {
  RunReport report = run_report();
  report.swap = {2 * kMiB, std::nullopt, "memory.swap.peak"};
  report.hugetlb = {4 * kMiB, std::nullopt, "highest of the captures"};
  const std::string text = text_of(report);
  EXPECT_EQ(line_of(text, "swap"),
            "  swap       2.00 MiB  swapped out, beside the peak; "
            "memory.swap.peak");
  EXPECT_EQ(line_of(text, "hugetlb"),
            "  hugetlb    4.00 MiB  huge pages, beside the peak; highest seen");
}

// ---- the shape --------------------------------------------------------------

TEST(RunText, APeakAtTheEdgeHasNoMarkOnTheEnds) {
  for (const uint64_t at_ms : {0U, 1U, 990U, 1000U}) {
    RunReport report = run_report();
    report.peak_at_ns = static_cast<int64_t>(at_ms * kMs);
    const std::string scale = line_of(text_of(report), "0 ");
    EXPECT_TRUE(scale.starts_with("  0 ") && scale.ends_with(" 1.0 s"))
        << scale;
  }
}

TEST(RunText, WithoutAHistoryThereIsNoShape) {
  RunReport report = run_report();
  report.history.clear();
  EXPECT_FALSE(has(text_of(report), "▁"));
}

// ---- tables -----------------------------------------------------------------

// Analysis writes " x8"; a name may have something like it in the middle.
TEST(RunText, OnlyACountIsATimesSign) {
  RunReport report = run_report();
  report.parts[0].mostly = "python3 x86.py x8, qemu x64 user, 3 others";
  EXPECT_TRUE(has(text_of(report), "  python3 x86.py ×8, qemu x64 user…\n"))
      << text_of(report);
}

TEST(RunText, RowsBeyondTheLimitAreSummedUp) {
  RunReport report = run_report();
  for (uint64_t i = 0; i < 20; ++i) {
    report.mappings.push_back(
        {"m" + std::to_string(i), model::Category::File, kMiB, kMiB, 1});
    report.names.push_back(run_name("n" + std::to_string(i), 2, 0));
    report.tree.push_back(
        tree_row("t" + std::to_string(i), kMiB, {false, false}));
  }
  const std::string text = run_text(report, {4}, TextStyle{});
  EXPECT_EQ(line_of(text, "20 smaller"),
            "  20 smaller                  20.0 MiB   20.0");
  EXPECT_EQ(line_of(text, "18 other names"),
            "  18 other names ×36          9.00 MiB          0");
  EXPECT_EQ(line_of(text, "15 more"), "  15 more lines, in --json");
}

TEST(RunText, ALimitOfOneLeavesOneRowOfEachTable) {
  const std::string text = run_text(run_report(), {1}, TextStyle{});
  EXPECT_TRUE(has(line_of(text, "[heap]"), "80.0 MiB")) << text;
  EXPECT_EQ(line_of(text, "1 smaller"),
            "  1 smaller                   20.0 MiB   20.0");
}

TEST(RunText, ATreeOfOneIsNotDrawn) {
  RunReport report = run_report();
  report.tree.resize(1);
  EXPECT_FALSE(has(text_of(report), "who held it"));
}

TEST(RunText, TheTreeIsDrawnWithLinesFromAbove) {
  RunReport report = run_report();
  report.tree = {tree_row("make", kMiB, {false}),
                 tree_row("sh", kMiB, {false, true}),
                 tree_row("cc1", kMiB, {false, true, false}),
                 tree_row("ld", kMiB, {false, false})};
  const std::string text = text_of(report);
  EXPECT_TRUE(has(text, "\n  make  ") && has(text, "\n  ├ sh  ") &&
              has(text, "\n  │ └ cc1  ") && has(text, "\n  └ ld  "))
      << text;
  EXPECT_TRUE(has(run_text(report, {}, ascii()), "\n  | `-cc1  "));
}

// ---- what is not complete ---------------------------------------------------

TEST(RunText, SaysWhatItDoesNotKnow) {
  const std::string text = text_of(hostile_run_report("tame"));
  EXPECT_TRUE(
      has(text,
          "\n  212,345 processes were seen; those that lived between two looks "
          "are missing\n"
          "  12,345 more processes are counted, not listed\n"
          "  12,345 processes were lost: no room for their records\n"
          "  12,345 of them still run, left alone\n"
          "  12,345 processes at the peak could not be read\n"))
      << text;
}

TEST(RunText, OneIsSingular) {
  RunReport report = hostile_run_report("tame");
  report.process_count = report.unlisted_count = report.lost_count =
      report.left_running_count = report.unreadable_count = 1;
  const std::string text = text_of(report);
  EXPECT_TRUE(
      has(text,
          "\n  1 process was seen; those that lived between two looks are "
          "missing\n"
          "  1 more process is counted, not listed\n"
          "  1 process was lost: no room for its record\n"
          "  1 of them still runs, left alone\n"
          "  1 process at the peak could not be read\n"))
      << text;
}

TEST(RunText, SaysHowLongThingsStoodStill) {
  RunReport report = run_report();
  report.cost.stop_count = 2;
  report.cost.stopped_ns = 5 * kMs;
  EXPECT_TRUE(text_of(report).ends_with(
      "  cost: 0.7 % of a core, 31 captures in 12 ms, 2 stops for 5.0 ms\n"));
}

TEST(RunText, NotesAreBrokenAtBlanksAndNotCut) {
  RunReport report = run_report();
  report.notes = {
      "no BPF: cannot load the BPF programs: Operation not permitted; run as "
      "root, or grant CAP_BPF and CAP_PERFMON; see `tidemark doctor`"};
  const std::string text = text_of(report);
  EXPECT_TRUE(text.ends_with(
      "  no BPF: cannot load the BPF programs: Operation not permitted; run as "
      "root, or\n"
      "    grant CAP_BPF and CAP_PERFMON; see `tidemark doctor`\n"))
      << text;
}

// ---- names of strangers -----------------------------------------------------

RC_GTEST_PROP(RunTextProperty, HostileNamesCannotControlTheTerminal, ()) {
  const RunReport report = hostile_run_report(*hostile_name());
  RC_ASSERT(is_harmless(text_of(report)));
  RC_ASSERT(is_harmless(run_line(report, TextStyle{})));
}

RC_GTEST_PROP(RunTextProperty, HostileNamesAddNoLine, ()) {
  RunReport report = hostile_run_report(*hostile_name());
  report.notes.clear();
  RunReport tame = hostile_run_report("tame");
  tame.notes.clear();
  RC_ASSERT(line_count(text_of(report)) == line_count(text_of(tame)));
}

// Names of any length, sizes and counts of any size.
RunReport wild_report() {
  const auto bytes = [] { return *rc::gen::inRange<uint64_t>(0, 1ULL << 60); };
  const auto count = [] { return *rc::gen::inRange<uint64_t>(0, 1ULL << 30); };
  const auto time = [] { return *rc::gen::inRange<uint64_t>(0, 1ULL << 58); };
  std::string name = *hostile_name();
  for (uint64_t i = *rc::gen::inRange<uint64_t>(0, 4); i > 0; --i)
    name += name + "x";
  RunReport report = hostile_run_report(name);
  report.notes.clear();  // half a path is no path
  report.method = *rc::gen::element(model::RunMethod::ChargeGate,
                                    model::RunMethod::Sampled);
  report.peak_is_charge = *rc::gen::arbitrary<bool>();
  report.peak.bytes = bytes();
  report.captured_bytes = bytes();
  for (analysis::RunPart& part : report.parts)
    part.bytes = static_cast<int64_t>(bytes());
  for (analysis::RunMapping& mapping : report.mappings) {
    mapping.bytes = bytes();
    mapping.process_count = count();
  }
  for (analysis::RunTreeRow& row : report.tree) {
    row.bytes = bytes();
    row.count = count();
    row.has_more.resize(1 + count() % 100);
  }
  for (analysis::RunName& row : report.names) {
    row.count = row.at_peak_count = count();
    row.peak_rss_bytes = row.at_peak_bytes = bytes();
    row.shortest_ns = row.longest_ns = time();
  }
  report.duration_ns = time();
  report.peak_at_ns = static_cast<int64_t>(time());
  report.lost_count = report.unlisted_count = report.process_count = count();
  report.signal_number = *rc::gen::inRange(0, 65);
  report.cost = {time(), count(), time(), time(), time(), count(), time()};
  return report;
}

RC_GTEST_PROP(RunTextProperty, NoLineIsWiderThanTheScreen, ()) {
  TextStyle style;
  style.utf8 = *rc::gen::arbitrary<bool>();
  style.width = *rc::gen::element<size_t>(80, 132);
  const RunReport report = wild_report();
  RC_ASSERT(widest_line(run_text(report, {}, style)) <= style.width);
  RC_ASSERT(widest_line(run_line(report, style)) < style.width);
}

RC_GTEST_PROP(RunTextProperty, ColourMovesNothing, ()) {
  const RunReport report = wild_report();
  TextStyle style;
  style.color = true;
  std::string painted = run_text(report, {}, style);
  for (const char* code : {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[33m"}) {
    const std::string_view ink = code;
    for (size_t at = painted.find(ink); at != std::string::npos;
         at = painted.find(ink)) {
      painted.erase(at, ink.size());
    }
  }
  RC_ASSERT(painted == text_of(report));
}

}  // namespace
}  // namespace tidemark::view
