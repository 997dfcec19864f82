#include "cli/get.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/cli/harness.h"
#include "unit/view/json/unknowns.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using Words = std::vector<std::string>;

// ---- -f ---------------------------------------------------------------------

uint64_t frequency(const std::string& word) {
  base::Result<uint64_t> ns = parse_frequency(word);
  EXPECT_TRUE(ns) << word;
  return ns ? *ns : 0;
}

TEST(ParseFrequency, ABareNumberIsHertz) {
  EXPECT_EQ(frequency("10"), 100'000'000U);
}

TEST(ParseFrequency, ABareFractionIsHertz) {
  EXPECT_EQ(frequency("0.5"), 2'000'000'000U);
}

TEST(ParseFrequency, AUnitSaysWhatIsMeant) {
  EXPECT_EQ(frequency("10Hz"), 100'000'000U);
  EXPECT_EQ(frequency("250ms"), 250'000'000U);
  EXPECT_EQ(frequency("2s"), 2'000'000'000U);
}

TEST(ParseFrequency, WhatIsNoRateIsMisuse) {
  for (const char* word : {"", "0", "0Hz", "-1", "fast", "1.2.3", "1e3"}) {
    base::Result<uint64_t> ns = parse_frequency(word);
    ASSERT_FALSE(ns) << word;
    EXPECT_EQ(ns.error().kind, ErrorKind::Misused) << word;
  }
}

TEST(ParseFrequency, AnErrorNamesTheWordAsItWasTyped) {
  base::Result<uint64_t> ns = parse_frequency("0");
  ASSERT_FALSE(ns);
  EXPECT_NE(ns.error().what.find("'0'"), std::string::npos) << ns.error().what;
}

// ---- options shared with memstat --------------------------------------------

GetOptions get_taken(const Words& words) {
  GetOptions options;
  OptionTable table;
  add_memstat_options(table, options);
  base::Status status = parse_options(table, words);
  EXPECT_TRUE(status) << status.error().what;
  return options;
}

TEST(MemstatOptions, EachSetsItsOwn) {
  EXPECT_TRUE(get_taken({"-r"}).with_descendants);
  EXPECT_TRUE(get_taken({"--recursively"}).with_descendants);
  EXPECT_TRUE(get_taken({"-v"}).verbose);
  EXPECT_TRUE(get_taken({"-w"}).watch);
  EXPECT_TRUE(get_taken({"--bytes"}).in_bytes);
  EXPECT_EQ(get_taken({"-f", "4"}).period_ns, 250'000'000U);
}

TEST(MemstatOptions, ThePeakIsPrintedUnlessAskedOtherwise) {
  EXPECT_EQ(get_taken({}).peak, PeakMode::WithSamples);
  EXPECT_EQ(get_taken({"--no-peak"}).peak, PeakMode::None);
  EXPECT_EQ(get_taken({"--only-peak"}).peak, PeakMode::Only);
}

TEST(MemstatOptions, TheLastWordOnThePeakCounts) {
  EXPECT_EQ(get_taken({"--only-peak", "--peak"}).peak, PeakMode::WithSamples);
  EXPECT_EQ(get_taken({"--only-peak", "--no-peak"}).peak, PeakMode::None);
}

// ---- the command ------------------------------------------------------------

// On process 151 of a fixture.
std::string get(Words words) {
  words.insert(words.end(),
               {"-q", "--proc", fixture("debian-6.12/proc"), "151"});
  return file_output_of("get", std::move(words));
}

std::string misuse(const Words& words) {
  base::Result<ExitCode> result = run("get", words);
  EXPECT_FALSE(result);
  if (result) return {};
  EXPECT_EQ(result.error().kind, ErrorKind::Misused);
  return result.error().what;
}

TEST(Get, WithoutOptionsIsOneReport) {
  const std::string text = get({});
  EXPECT_TRUE(text.starts_with("p:151 memhog\n\n  in RAM")) << text;
  EXPECT_EQ(text.find("TASK"), std::string::npos) << text;
}

TEST(Get, CountImpliesAWatchWithItsPeak) {
  // Head, two readings, the peak in two lines.
  EXPECT_EQ(lines_of(get({"--count", "2", "--interval", "1ms"})).size(), 5U);
}

TEST(Get, NoPeakLeavesThePeakOut) {
  EXPECT_EQ(
      lines_of(get({"--count", "2", "--period", "1ms", "--no-peak"})).size(),
      3U);
}

TEST(Get, DurationImpliesAWatch) {
  EXPECT_TRUE(get({"--duration", "1ms", "-f", "1000"}).starts_with("TIME "));
}

TEST(Get, AWatchInBytesIsNumbersAlone) {
  EXPECT_EQ(get({"--count", "2", "--interval", "1ms", "--bytes"}),
            "9106432\n9106432\n9106432\n");
}

TEST(Get, CsvHasOneHeadAndNoPeak) {
  const Words lines =
      lines_of(get({"--count", "2", "--interval", "1ms", "--csv"}));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].starts_with("time,pid,"));
  EXPECT_FALSE(lines[1].starts_with("time,"));
}

TEST(Get, JsonOfAWatchIsOneObjectALineAndTheLastIsThePeak) {
  const Words lines =
      lines_of(get({"--count", "2", "--interval", "1ms", "--json"}));
  ASSERT_EQ(lines.size(), 3U);
  for (const std::string& line : lines) {
    EXPECT_TRUE(line.starts_with(R"({"schema":"tidemark.get/1")")) << line;
  }
  EXPECT_TRUE(lines[2].ends_with(
      R"("is_peak":true,"sample_count":2,"new_high_count":0})"));
}

TEST(Get, OnlyPeakWithoutAWatchIsTheKernelsMark) {
  EXPECT_TRUE(get({"--only-peak"}).starts_with("peak RSS ")) << get({});
}

// 14 has no smaps_rollup, 15 neither that nor smaps.
TEST(Get, EveryNullInJsonHasItsReason) {
  for (const Words& targets :
       {Words{"14"}, Words{"15"}, Words{"14", "15", "16"}}) {
    Words words = {"-q", "--json", "--proc", fixture("hostile/proc")};
    words.insert(words.end(), targets.begin(), targets.end());
    EXPECT_EQ(view::broken_unknowns(file_output_of("get", words)), "");
  }
}

TEST(Get, UnitsReachTheNumbers) {
  EXPECT_NE(get({"--units", "B"}).find("9106432 B"), std::string::npos);
}

TEST(Get, ACountOfZeroIsMisuse) {
  EXPECT_EQ(misuse({"--count", "0", "1"}), "'0' is not a count");
}

TEST(Get, ADurationOfZeroIsMisuse) {
  EXPECT_EQ(misuse({"--duration", "0s", "1"}), "'0s' is not a duration");
}

TEST(Get, ABadTargetLeavesTheOutputFileAlone) {
  const TempFolder folder;
  std::ofstream(folder.file("out")) << "precious";
  EXPECT_FALSE(run("get", {"-o", folder.file("out"), "--proc",
                           fixture("debian-6.12/proc"), "4711"}));
  EXPECT_EQ(contents(folder.file("out")), "precious");
}

}  // namespace
}  // namespace tidemark::cli
