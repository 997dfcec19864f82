#include "analysis/run_report.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <csignal>
#include <numeric>
#include <string>

#include "unit/analysis/runs.h"

namespace tidemark::analysis {
namespace {

using model::ProcessLife;
using model::RunMethod;
using model::RunRecord;
using test::charged;
using test::charged_run;
using test::heap_of;
using test::kKiB;
using test::kRunStart;
using test::library_of;
using test::life_of;
using test::picture_of;
using test::pictured;
using test::still_running;

RunReport report_of(const RunRecord& record) {
  return make_run_report(record);
}

// A run without a group: the RSS of its processes is all there is.
RunRecord rss_run(uint64_t peak_kib) {
  RunRecord record = charged_run(0);
  record.method = RunMethod::RssGate;
  record.charge.reset();
  record.rss = {peak_kib * kKiB, kRunStart + 600, "counted at every change"};
  return record;
}

RunRecord with_lives(std::vector<ProcessLife> lives) {
  RunRecord record = charged_run(1000);
  record.lives = std::move(lives);
  return record;
}

const RunName* name_row(const RunReport& report, std::string_view name) {
  for (const RunName& row : report.names) {
    if (row.name == name) return &row;
  }
  ADD_FAILURE() << "no row " << name;
  return nullptr;
}

// ---- the command ------------------------------------------------------------

TEST(RunReport, JoinsTheCommand) {
  EXPECT_EQ(report_of(charged_run(1)).command, "make -j8");
}

TEST(RunReport, LastsFromTheStartToTheEnd) {
  EXPECT_EQ(report_of(charged_run(1)).duration_ns, 1000U);
}

TEST(RunReport, TheExitStatusIsThatOfTheCommand) {
  for (int status : {0, 1, 10, 125, 255}) {
    RunRecord record = charged_run(1);
    record.wait_status = status << 8;
    EXPECT_EQ(report_of(record).exit_status, status);
    EXPECT_EQ(report_of(record).signal_number, 0);
  }
}

TEST(RunReport, ASignalIs128AndItsNumber) {
  for (int number : {SIGINT, SIGKILL, SIGSEGV, SIGTERM}) {
    RunRecord record = charged_run(1);
    record.wait_status = number;
    EXPECT_EQ(report_of(record).exit_status, 128 + number);
    EXPECT_EQ(report_of(record).signal_number, number);
  }
}

TEST(RunReport, ACoreDumpDoesNotChangeTheSignal) {
  RunRecord record = charged_run(1);
  record.wait_status = SIGSEGV | 0x80;
  EXPECT_EQ(report_of(record).exit_status, 128 + SIGSEGV);
}

// ---- the peak ---------------------------------------------------------------

TEST(RunReport, TheChargeIsTheHeadline) {
  RunRecord record = charged_run(900);
  record.rss = {990 * kKiB, kRunStart + 1, "counted"};
  const RunReport report = report_of(record);
  EXPECT_EQ(report.peak.bytes, 900 * kKiB);
  EXPECT_EQ(report.peak.source, "memory.peak");
  EXPECT_TRUE(report.peak_is_charge);
  EXPECT_EQ(report.rss->bytes, 990 * kKiB) << "stands beside it";
}

TEST(RunReport, WithoutAGroupTheSumOfRssIsTheHeadline) {
  const RunReport report = report_of(rss_run(700));
  EXPECT_EQ(report.peak.bytes, 700 * kKiB);
  EXPECT_FALSE(report.peak_is_charge);
}

// A run of which a process went to another group and held so much there.
RunRecord run_with_a_leaver(uint64_t peak_kib) {
  RunRecord record = charged_run(900);
  ProcessLife life = life_of(43, 42, "podman");
  life.left_group = true;
  life.peak_rss_bytes = peak_kib * kKiB;
  record.lives.push_back(life);
  return record;
}

TEST(RunReport, WhoLeftTheGroupBoundsThePeakFromBelow) {
  RunRecord record = run_with_a_leaver(5000);
  record.pss = {4000 * kKiB, kRunStart + 500, "highest of the captures"};
  RunReport report = report_of(record);
  EXPECT_EQ(report.left_group_count, 1U);
  EXPECT_EQ(report.peak.bytes, 5000 * kKiB);
  EXPECT_EQ(report.peak_measure, RunMeasure::Rss);
  EXPECT_EQ(report.peak_at_ns, std::nullopt);
  EXPECT_EQ(report.coverage, std::nullopt) << "of a height nobody knows";
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(report.notes[0],
            "1 process (podman) left the cgroup of the run, which does not "
            "count it: the peak is a lower bound");
  record.pss->bytes = 6000 * kKiB;  // of several together
  report = report_of(record);
  EXPECT_EQ(report.peak.bytes, 6000 * kKiB);
  EXPECT_EQ(report.peak_measure, RunMeasure::Pss);
  EXPECT_EQ(report.peak_at_ns, 500);
}

TEST(RunReport, WhoLeftTheGroupDoesNotLowerThePeak) {
  const RunReport report = report_of(run_with_a_leaver(100));
  EXPECT_EQ(report.peak.bytes, 900 * kKiB);
  EXPECT_EQ(report.peak_measure, RunMeasure::Charge);
  EXPECT_EQ(report.coverage, std::nullopt);
}

TEST(RunReport, ThePeakIsTimedFromTheStart) {
  EXPECT_EQ(report_of(charged_run(900)).peak_at_ns, 600);
}

TEST(RunReport, APeakThatNobodySawRiseHasNoTime) {
  RunRecord record = charged_run(900);
  record.charge->time_ns.reset();
  EXPECT_EQ(report_of(record).peak_at_ns, std::nullopt);
}

TEST(RunReport, OfNothingMeasuredHasNoCoverage) {
  RunRecord record = charged_run(0);
  record.charge.reset();
  const RunReport report = report_of(record);
  EXPECT_EQ(report.peak.bytes, 0U);
  EXPECT_EQ(report.coverage, std::nullopt) << "a share of nothing";
}

// ---- the picture ------------------------------------------------------------

RunRecord pictured_run(uint64_t peak_kib, uint64_t captured_kib) {
  RunRecord record = charged_run(peak_kib);
  record.capture = charged(picture_of({pictured(10, "cc1", {heap_of(80)})}),
                           captured_kib, captured_kib);
  return record;
}

TEST(RunReport, WhatThePeakRoseAboveThePictureIsNotCaught) {
  const RunReport report = report_of(pictured_run(200, 150));
  EXPECT_EQ(report.captured_bytes, 150 * kKiB);
  EXPECT_EQ(report.not_caught_bytes, 50 * kKiB);
  EXPECT_DOUBLE_EQ(report.coverage.value(), 0.75);
}

TEST(RunReport, APictureOfMoreThanThePeakCoversItWhole) {
  const RunReport report = report_of(pictured_run(200, 201));
  EXPECT_EQ(report.not_caught_bytes, 0U);
  EXPECT_DOUBLE_EQ(report.coverage.value(), 1.0);
}

TEST(RunReport, WithoutAPictureNothingIsCaught) {
  const RunReport report = report_of(charged_run(200));
  EXPECT_FALSE(report.has_capture);
  EXPECT_EQ(report.not_caught_bytes, 200 * kKiB);
  EXPECT_DOUBLE_EQ(report.coverage.value(), 0.0);
}

TEST(RunReport, ThePictureIsTimedFromTheStartAndFromThePeak) {
  const RunReport report = report_of(pictured_run(200, 150));
  EXPECT_EQ(report.captured_at_ns, 500);
  EXPECT_EQ(report.capture_after_ns, -100) << "negative: before the peak";
}

TEST(RunReport, SaysWhetherTheTreeStoodStill) {
  RunRecord record = pictured_run(200, 150);
  record.capture->was_frozen = true;
  record.capture->was_stopped = true;
  const RunReport report = report_of(record);
  EXPECT_TRUE(report.was_frozen);
  EXPECT_TRUE(report.was_stopped);
}

TEST(RunReport, CountsMembersThatCouldNotBeRead) {
  RunRecord record = pictured_run(200, 150);
  record.capture->sample.processes.push_back(test::denied_process(11, 1, "su"));
  EXPECT_EQ(report_of(record).unreadable_count, 1U);
}

RC_GTEST_PROP(RunReportProperty, PartsRestAndWhatWasNotCaughtAreThePeak, ()) {
  const auto kib = [] { return *rc::gen::inRange<uint64_t>(0, 1 << 22); };
  RunRecord record = charged_run(kib());
  record.capture = charged(
      picture_of({pictured(10, "cc1",
                           {heap_of(kib()),
                            library_of("/lib/libc.so.6", {kib(), kib(), 0})}),
                  test::denied_process(11, 1, "su")}),
      kib(), kib());
  record.capture->stat.file_bytes = kib() * kKiB;
  record.capture->stat.shmem_bytes = kib() * kKiB;
  record.capture->stat.kernel_bytes = kib() * kKiB;
  // The kernel's mark is never below a charge that it showed.
  record.charge->bytes =
      std::max(record.charge->bytes, *record.capture->charged_before_bytes);
  const RunReport report = report_of(record);
  int64_t sum = report.not_explained_bytes +
                static_cast<int64_t>(report.not_caught_bytes);
  for (const RunPart& part : report.parts)
    sum += part.bytes;
  RC_ASSERT(sum == static_cast<int64_t>(report.peak.bytes));
}

// ---- what each held ---------------------------------------------------------

TEST(RunReport, ThePictureSaysWhatEachHeld) {
  RunRecord record = pictured_run(200, 150);
  record.lives = {life_of(10, 1, "/usr/bin/cc1"), life_of(11, 1, "/bin/true")};
  const RunReport report = report_of(record);
  EXPECT_EQ(report.processes[0].at_peak_bytes, 80 * kKiB);
  EXPECT_EQ(report.processes[1].at_peak_bytes, std::nullopt);
}

TEST(RunReport, WithAGroupItIsPssAndWithoutItIsRss) {
  RunRecord record = pictured_run(200, 150);
  record.capture = picture_of(
      {pictured(10, "sh", {library_of("/lib/libc.so.6", {30, 70, 0})})});
  record.lives = {life_of(10, 1, "/bin/sh")};
  EXPECT_EQ(report_of(record).processes[0].at_peak_bytes, 30 * kKiB);
  record.charge.reset();
  EXPECT_EQ(report_of(record).processes[0].at_peak_bytes, 70 * kKiB);
}

// The picture is taken at 500.
TEST(RunReport, APidThatCameTwiceIsTheOneThatLivedAtThePicture) {
  RunRecord record = pictured_run(200, 150);
  record.lives = {life_of(10, 1, "/bin/first", 0, 400),
                  life_of(10, 1, "/bin/second", 450, 600),
                  life_of(10, 1, "/bin/third", 700, 900)};
  const RunReport report = report_of(record);
  ASSERT_EQ(report.processes.size(), 3U);
  EXPECT_EQ(report.processes[0].at_peak_bytes, std::nullopt);
  EXPECT_EQ(report.processes[1].at_peak_bytes, 80 * kKiB);
  EXPECT_EQ(report.processes[2].at_peak_bytes, std::nullopt);
}

TEST(RunReport, OneThatStillRunsWasInThePicture) {
  RunRecord record = pictured_run(200, 150);
  record.lives = {still_running(life_of(10, 1, "/usr/bin/cc1"))};
  EXPECT_EQ(report_of(record).processes[0].at_peak_bytes, 80 * kKiB);
}

// ---- who lived --------------------------------------------------------------

TEST(RunReport, ProcessesStandInTheOrderTheyStarted) {
  const RunReport report = report_of(
      with_lives({life_of(12, 1, "c", 30, 40), life_of(10, 1, "a", 10, 90),
                  life_of(11, 1, "b", 20, 50)}));
  ASSERT_EQ(report.processes.size(), 3U);
  EXPECT_EQ(report.processes[0].name, "a");
  EXPECT_EQ(report.processes[1].name, "b");
  EXPECT_EQ(report.processes[2].name, "c");
}

TEST(RunReport, FoldsProcessesOfOneName) {
  std::vector<ProcessLife> lives;
  for (int32_t i = 0; i < 2000; ++i) {
    lives.push_back(
        life_of(100 + i, 10, "/bin/true", 10, 20 + static_cast<uint64_t>(i)));
    lives.back().peak_rss_bytes = static_cast<uint64_t>(i) * kKiB;
  }
  const RunReport report = report_of(with_lives(std::move(lives)));
  ASSERT_EQ(report.names.size(), 1U);
  const RunName& row = report.names[0];
  EXPECT_EQ(row.name, "true");
  EXPECT_EQ(row.count, 2000U);
  EXPECT_EQ(row.peak_rss_bytes, 1999 * kKiB) << "of the largest";
  EXPECT_EQ(row.shortest_ns, 10U);
  EXPECT_EQ(row.longest_ns, 2009U);
  EXPECT_EQ(row.at_peak_count, 0U);
  EXPECT_EQ(report.processes.size(), 2000U) << "each is still listed";
}

TEST(RunReport, NamesStandByWhatTheyHeldAndThenByTheirPeak) {
  RunRecord record = pictured_run(200, 150);
  ProcessLife large = life_of(20, 1, "/bin/large");
  large.peak_rss_bytes = 5000 * kKiB;
  record.lives = {life_of(21, 1, "/bin/small"), large,
                  life_of(10, 1, "/usr/bin/cc1")};
  const RunReport report = report_of(record);
  ASSERT_EQ(report.names.size(), 3U);
  EXPECT_EQ(report.names[0].name, "cc1") << "held memory at the peak";
  EXPECT_EQ(report.names[1].name, "large");
  EXPECT_EQ(report.names[2].name, "small");
}

TEST(RunReport, OneThatStillRunsHasLivedToTheEnd) {
  const RunReport report = report_of(
      with_lives({still_running(life_of(10, 1, "/bin/daemon", 100))}));
  EXPECT_EQ(name_row(report, "daemon")->longest_ns, 900U);
}

// A daemon that is left behind goes on starting others while we count.
TEST(RunReport, OneThatStartedAfterTheEndHasLivedNoTime) {
  const RunReport report =
      report_of(with_lives({still_running(life_of(10, 1, "/bin/late", 1500))}));
  EXPECT_EQ(name_row(report, "late")->longest_ns, 0U);
}

TEST(RunReport, ThoseBeyondTheListAreCounted) {
  RunRecord record = with_lives({life_of(10, 1, "/bin/true")});
  record.unlisted_count = 4;
  record.lost_count = 3;
  record.left_running_count = 2;
  const RunReport report = report_of(record);
  EXPECT_EQ(report.process_count, 5U);
  EXPECT_EQ(report.unlisted_count, 4U);
  EXPECT_EQ(report.lost_count, 3U);
  EXPECT_EQ(report.left_running_count, 2U);
}

TEST(RunReport, TheHistoryIsTimedFromTheStart) {
  RunRecord record = charged_run(1);
  record.history = {{kRunStart - 5, 1}, {kRunStart + 40, 2}};
  EXPECT_EQ(report_of(record).history,
            (std::vector<model::HeightPoint>{{0, 1}, {40, 2}}));
}

// ---- names ------------------------------------------------------------------

ProcessLife named(std::string_view comm, std::string_view path) {
  ProcessLife life;
  life.comm = comm;
  life.path = path;
  return life;
}

TEST(LifeName, IsTheFileThatWasExecuted) {
  EXPECT_EQ(life_name(named("true", "/usr/bin/true")), "true");
  EXPECT_EQ(life_name(named("run.sh", "./run.sh")), "run.sh");
  EXPECT_EQ(life_name(named("ls", "ls")), "ls");
}

TEST(LifeName, SaysWhatCommIsTooShortFor) {
  EXPECT_EQ(
      life_name(named("osm2pgsql-repli", "/usr/bin/osm2pgsql-replication")),
      "osm2pgsql-replication");
  EXPECT_EQ(life_name(named("fifteen-letters", "/bin/fifteen-letters")),
            "fifteen-letters");
}

TEST(LifeName, OfOneThatRenamedItselfIsItsOwnWish) {
  EXPECT_EQ(life_name(named("worker/3", "/usr/sbin/nginx")), "worker/3");
}

TEST(LifeName, OfOneThatNeverExecutedIsThatOfItsParent) {
  ProcessLife life = named("python3", "/usr/bin/python3");
  life.has_execed = false;
  EXPECT_EQ(life_name(life), "python3");
}

// Paths are kept to 127 bytes and cut without a sign.
TEST(LifeName, OfAPathThatWasCutIsItsComm) {
  const std::string folder(118, 'd');
  EXPECT_EQ(life_name(named("cc1plus", "/" + folder + "/cc1pl")), "cc1plus");
  EXPECT_EQ(life_name(named("cc1plus", "/" + folder + "/bin")), "cc1plus");
}

TEST(LifeName, WithoutACommIsTheFile) {
  EXPECT_EQ(life_name(named("", "/usr/bin/true")), "true");
}

TEST(LifeName, OfAFolderIsItsComm) {
  EXPECT_EQ(life_name(named("odd", "/usr/bin/")), "odd");
}

TEST(LifeName, OfNothingKnownIsAQuestionMark) {
  EXPECT_EQ(life_name(named("", "")), "?");
}

}  // namespace
}  // namespace tidemark::analysis
