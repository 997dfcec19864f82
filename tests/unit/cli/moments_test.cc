#include "cli/moments.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/cli/harness.h"
#include "unit/quantities.h"
#include "unit/store/scratch.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using test::mapping_at;
using test::process_of;
using test::sample_of_second;

using test::kSecondNs;

class Moments : public testing::Test {
 protected:
  std::string path() const { return folder_.file("a.tdm"); }

  store::Recording recorded(const std::vector<model::Sample>& samples) const {
    test::record(path(), samples);
    base::Result<store::Recording> recording = open_recording(path());
    EXPECT_TRUE(recording) << recording.error().what;
    return std::move(*recording);
  }
  // At 08:00:00, :01, :02 and :05 of 2027-01-15, highest at :02. The machine
  // has been up for a while.
  store::Recording recording() const {
    std::vector<model::Sample> samples;
    const std::pair<uint64_t, uint64_t> points[] = {
        {0, 10}, {1, 20}, {2, 90}, {5, 40}};
    for (const auto& [second, pss_kib] : points) {
      samples.push_back(sample_of_second(
          second, {process_of(42, {mapping_at(0x10000, "/data", pss_kib)})}));
      samples.back().started_monotonic_ns += 5000 * kSecondNs;
      samples.back().ended_monotonic_ns += 5000 * kSecondNs;
    }
    return recorded(samples);
  }

  TempFolder folder_;
};

// ---- moments

TEST_F(Moments, EveryWayToNameOneLeadsToTheLastTickNotAfterIt) {
  const store::Recording four = recording();
  const std::pair<const char*, size_t> known[] = {
      {"start", 0},
      {"end", 3},
      {"0", 0},
      {"0s", 0},
      {"+0.0min", 0},
      {"00ms", 0},
      {"tick:0", 0},
      {"tick:3", 3},
      {"2027-01-15T08:00:00Z", 0},
      {"2027-01-15T08:00:01.999Z", 1},
      {"2027-01-15T08:00:04.999Z", 2},
      {"2027-01-15T08:00:05Z", 3},
      {"2030-01-01T00:00:00Z", 3},
      {"00:00", 0},
      {"00:00:00", 0},
      {"0:01", 1},
      {"00:00:02.5", 2},
      {"0:04.999", 2},
      {"00:05", 3},
      {"1:00:00", 3},
      {"1", 1},
      {"1s", 1},
      {"+1s", 1},
      {"1999ms", 1},
      {"4.5s", 2},
      {"1min", 3},
      {"2000000h", 3},
  };
  for (const auto& [word, index] : known) {
    const base::Result<size_t> found = find_moment(four, word);
    ASSERT_TRUE(found) << word << ": " << found.error().what;
    EXPECT_EQ(*found, index) << word;
  }
}

TEST_F(Moments, WhatIsNoMomentIsRefusedWithTheFormsThereAre) {
  const store::Recording four = recording();
  for (const char* word :
       {"", "soon", "-1s", "2Hz", "1:2:3:4", "00:60", "1:-1", ":30",
        "00:", "tick:", "tick:x", "tick:1.5", "tick: 1", "Start", "peak",
        "2027-01-15", "99999999999:00"}) {
    const base::Result<size_t> found = find_moment(four, word);
    ASSERT_FALSE(found) << word;
    EXPECT_EQ(found.error().kind, ErrorKind::Misused) << word;
    EXPECT_EQ(found.error().what, "'" + std::string(word) + "' is no moment");
    EXPECT_NE(found.error().hint, "") << word;
  }
}

TEST_F(Moments, ATickThatIsNotThereIsToldWithThoseThatAre) {
  const store::Recording four = recording();
  for (const char* word : {"tick:4", "tick:-1"}) {
    const base::Result<size_t> found = find_moment(four, word);
    ASSERT_FALSE(found) << word;
    EXPECT_EQ(found.error(),
              base::fail(ErrorKind::NotFound, "no " + std::string(word),
                         "they go from 0 to 3"));
  }
}

TEST_F(Moments, AMomentBeforeTheRecordingIsNotItsStart) {
  const base::Result<size_t> found =
      find_moment(recording(), "2027-01-15T07:59:59.999Z");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error(),
            base::fail(ErrorKind::NotFound,
                       "2027-01-15T07:59:59.999Z is before the recording",
                       "it begins at 2027-01-15T08:00:00.000000000Z"));
}

// Somebody set the clock, or files were imported in another order.
TEST_F(Moments, ATimeIsFoundAlsoWhereTheClockWasSetBack) {
  std::vector<model::Sample> samples;
  const uint64_t clock[] = {100, 110, 40, 50, 120};
  for (uint64_t i = 0; i < 5; ++i) {
    samples.push_back(sample_of_second(i, {process_of(42, {})}));
    samples.back().started_realtime_ns = (1'800'000'000 + clock[i]) * kSecondNs;
  }
  const store::Recording back = recorded(samples);
  const std::pair<const char*, size_t> known[] = {{"2027-01-15T08:00:45Z", 2},
                                                  {"2027-01-15T08:00:55Z", 3},
                                                  {"2027-01-15T08:01:45Z", 0},
                                                  {"2027-01-15T08:01:55Z", 1},
                                                  {"2027-01-15T08:02:00Z", 4}};
  for (const auto& [word, index] : known) {
    const base::Result<size_t> found = find_moment(back, word);
    ASSERT_TRUE(found) << word << ": " << found.error().what;
    EXPECT_EQ(*found, index) << word;
  }
  const base::Result<size_t> before = find_moment(back, "2027-01-15T08:00:39Z");
  ASSERT_FALSE(before);
  EXPECT_EQ(before.error().hint, "it begins at 2027-01-15T08:00:40.000000000Z");
}

TEST_F(Moments, ThePeakIsTheHighestPss) {
  const store::Recording four = recording();
  base::Result<size_t> found = find_moment_or_peak(four, "peak");
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(*found, 2U);
  found = find_moment_or_peak(four, "start");
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(*found, 0U);
}

TEST_F(Moments, WordsThatActOnATerminalAreMadeVisible) {
  const store::Recording four = recording();
  for (const char* word : {"\x1b[2J", "a\nb", "tick:\x1b"}) {
    const base::Result<size_t> found = find_moment(four, word);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().what.find_first_of("\x1b\n"), std::string::npos);
  }
}

// ---- processes

TEST_F(Moments, WithoutAChoiceAllAreMeant) {
  const base::Result<store::ProcessSet> chosen =
      choose_processes(recording(), "", "");
  ASSERT_TRUE(chosen) << chosen.error().what;
  EXPECT_TRUE(chosen->empty());
}

// The pid 42 was used twice, by a process of a hostile name the second time.
std::vector<model::Sample> reused_pid() {
  model::Process first = process_of(42, {});
  model::Process second = process_of(42, {});
  second.id.start_ticks = second.stat.start_ticks = 900;
  second.stat.comm = "x\x1b[2J\ny";
  return {sample_of_second(0, {first, process_of(7, {})}),
          sample_of_second(1, {second, process_of(7, {})})};
}

TEST_F(Moments, APidThatWasUsedTwiceIsRefusedWithItsBearers) {
  const store::Recording two = recorded(reused_pid());
  const base::Result<store::ProcessSet> chosen =
      choose_processes(two, "42", "");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().kind, ErrorKind::Misused);
  const std::vector<std::string> lines = lines_of(chosen.error().what);
  ASSERT_EQ(lines.size(), 3U) << chosen.error().what;
  EXPECT_EQ(lines[0], "2 processes had the pid 42:");
  EXPECT_TRUE(lines[1].ends_with("  p42")) << lines[1];
  EXPECT_TRUE(lines[2].ends_with(R"(  x\x1b[2J\ny)")) << lines[2];
}

TEST_F(Moments, EachBearerCanBeChosenAsTheRefusalSays) {
  const store::Recording two = recorded(reused_pid());
  const std::vector<std::string> lines =
      lines_of(choose_processes(two, "42", "").error().what);
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string prefix = "  --process ";
    ASSERT_TRUE(lines[i].starts_with(prefix)) << lines[i];
    const size_t end = lines[i].find(' ', prefix.size());
    const std::string id = lines[i].substr(prefix.size(), end - prefix.size());
    const base::Result<store::ProcessSet> chosen =
        choose_processes(two, "", id);
    ASSERT_TRUE(chosen) << chosen.error().what;
    ASSERT_EQ(chosen->size(), 1U);
    for (const model::RecordedProcess& process : two.processes()) {
      if (process.id == *chosen->begin()) {
        EXPECT_EQ(process.process.start_ticks, i == 1 ? 100U : 900U);
      }
    }
  }
}

TEST_F(Moments, APidThatWasUsedOnceIsEnough) {
  const store::Recording two = recorded(reused_pid());
  const base::Result<store::ProcessSet> chosen = choose_processes(two, "7", "");
  ASSERT_TRUE(chosen) << chosen.error().what;
  EXPECT_EQ(chosen->size(), 1U);
}

TEST_F(Moments, AProcessThatIsNotThereIsNotFound) {
  const store::Recording four = recording();
  for (const char* word : {"43", "x", "042", "-42", "42 ", "\x1b[2J\n"}) {
    for (bool is_pid : {true, false}) {
      const base::Result<store::ProcessSet> chosen =
          choose_processes(four, is_pid ? word : "", is_pid ? "" : word);
      ASSERT_FALSE(chosen) << word;
      EXPECT_EQ(chosen.error().kind, ErrorKind::NotFound) << word;
      EXPECT_EQ(chosen.error().what.find_first_of("\x1b\n"), std::string::npos);
    }
  }
}

// ---- recordings

TEST_F(Moments, ARecordingMustBeNamed) {
  const base::Result<store::Recording> none = open_recording("");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::Misused);
}

TEST_F(Moments, ARecordingWithoutASampleHasNothingToShow) {
  test::record(path(), {});
  const base::Result<store::Recording> empty = open_recording(path());
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error(), base::fail(ErrorKind::NotFound,
                                      path() + ": there is no sample in it"));
  for (const char* command : {"info", "peak", "replay", "export"}) {
    const base::Result<ExitCode> result = run(command, {path()});
    ASSERT_FALSE(result) << command;
    EXPECT_EQ(result.error().what, empty.error().what) << command;
  }
}

TEST_F(Moments, ARecordingOfNobodyIsStillShown) {
  test::record(path(), {sample_of_second(0, {}), sample_of_second(1, {})});
  for (const char* command : {"info", "peak", "export"})
    EXPECT_NE(output_of(command, {path()}), "") << command;
}

}  // namespace
}  // namespace tidemark::cli
