#include "view/json/run.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "unit/json_check.h"
#include "unit/parts.h"
#include "unit/view/json/unknowns.h"
#include "unit/view/run_example.h"

namespace tidemark::view {
namespace {

using analysis::RunReport;
using base::JsonWriter;

std::string one_line(const RunReport& report) {
  return run_json(report, JsonWriter::Layout::OneLine);
}

using test::has;

TEST(RunJson, OpensWithItsSchemaAndTheCommand) {
  const std::string json = one_line(run_report());
  EXPECT_TRUE(json.starts_with(
      R"({"schema":"tidemark.run/1","time":"2025-11-15T08:11:08.123456789Z",)"
      R"("duration_ns":1000000000,"command":"make -j8","exit_status":0,)"
      R"("method":"cgroup+bpf","notes":[],)"))
      << json;
}

TEST(RunJson, ThePeakNamesItsSource) {
  EXPECT_TRUE(has(one_line(run_report()),
                  R"("peak":{"bytes":104857600,"source":"memory.peak",)"
                  R"("measure":"charge","is_sampled":false,)"
                  R"("is_lower_bound":false,"at_ns":400000000},)"))
      << one_line(run_report());
}

TEST(RunJson, ASampledPeakSaysSo) {
  RunReport report = run_report();
  report.method = model::RunMethod::Sampled;
  report.peak_measure = analysis::RunMeasure::Rss;
  report.peak_is_charge = false;
  const std::string json = one_line(report);
  EXPECT_TRUE(has(json, R"("measure":"rss","is_sampled":true)")) << json;
  EXPECT_TRUE(has(json, R"("method":"sampling")")) << json;
}

TEST(RunJson, WhoLeftTheGroupIsNamedAndThePeakABound) {
  RunReport report = run_report();
  report.peak_measure = analysis::RunMeasure::Pss;
  report.left_group_count = 1;
  report.coverage.reset();
  report.processes[1].life.left_group = true;
  const std::string json = one_line(report);
  EXPECT_TRUE(has(json, R"("measure":"pss","is_sampled":false,)"
                        R"("is_lower_bound":true,)"))
      << json;
  EXPECT_TRUE(has(json, R"("left_group_count":1,)")) << json;
  EXPECT_TRUE(has(json, R"("has_execed":true,"left_group":true)")) << json;
  EXPECT_TRUE(has(json, R"("coverage":"the peak is a lower bound")")) << json;
}

TEST(RunJson, TheCompositionHasCoverageCategoriesAndMappings) {
  const std::string json = one_line(run_report());
  EXPECT_TRUE(has(json, R"("composition":{"coverage":0.96,)")) << json;
  EXPECT_TRUE(has(json, R"("categories":[{"category":"heap","label":"heap",)"
                        R"("bytes":83886080,)"
                        R"("mostly":"cc1plus x8, as, 3 others"},)"))
      << json;
  EXPECT_TRUE(has(json, R"("mappings":[{"name":"[heap]","category":"heap",)"
                        R"("bytes":83886080,"rss_bytes":83886080,)"
                        R"("process_count":9},)"))
      << json;
}

TEST(RunJson, WhatIsChargedElsewhereIsNegative) {
  EXPECT_TRUE(has(one_line(run_report()),
                  R"("label":"charged elsewhere","bytes":-5242880,)"));
}

TEST(RunJson, AProcessIsTimedFromTheStart) {
  const std::string json = one_line(run_report());
  EXPECT_TRUE(has(json, R"("processes":[{"pid":42,"parent_pid":1,)"
                        R"("name":"make","comm":"make","path":"/usr/bin/make",)"
                        R"("peak_rss_bytes":3145728,"peak_source":"counted",)"
                        R"("started_ns":10000000,"ended_ns":30000000,)"
                        R"("wait_status":0,"has_execed":true},)"))
      << json;
}

TEST(RunJson, SaysWhatEachHeldAtThePeak) {
  const std::string json = one_line(run_report());
  EXPECT_TRUE(has(json, R"("at_peak_bytes":71303168})")) << json;
}

TEST(RunJson, ListsCapturesAndTheirCost) {
  const std::string json = one_line(run_report());
  EXPECT_TRUE(has(json, R"("captures":31,"cost":{"cpu_ns":7000000,)")) << json;
}

TEST(RunJson, IsOneLineWhereAskedFor) {
  const std::string json = one_line(hostile_run_report("a\nb"));
  EXPECT_EQ(json.find('\n'), json.size() - 1) << json;
}

// ---- what is not known ------------------------------------------------------

TEST(RunJson, EveryNullHasItsReason) {
  EXPECT_EQ(broken_unknowns(one_line(run_report())), "");
}

TEST(RunJson, EveryNullOfALeanReportHasItsReason) {
  RunReport report = run_report();
  report.peak_at_ns.reset();
  report.capture_after_ns.reset();
  report.coverage.reset();
  report.rss.reset();
  report.pss.reset();
  for (analysis::RunProcess& process : report.processes) {
    process.life.ended_ns.reset();
    process.life.wait_status.reset();
    process.life.peak_rss_bytes.reset();
  }
  EXPECT_EQ(broken_unknowns(one_line(report)), "");
}

TEST(RunJson, EveryNullOfAReportWithoutAPictureHasItsReason) {
  RunReport report = run_report();
  report.has_capture = false;
  report.coverage = 0.0;
  report.capture_after_ns.reset();
  EXPECT_EQ(broken_unknowns(one_line(report)), "");
}

TEST(RunJson, AnEmptyReportIsValidAndExplained) {
  EXPECT_EQ(broken_unknowns(one_line(RunReport())), "");
}

TEST(RunJson, TheTimedProgramsAreANumber) {
  RunReport report = run_report();
  report.cost.bpf_ns = 5;
  EXPECT_TRUE(has(one_line(report), R"("bpf_ns":5})")) << one_line(report);
}

TEST(RunJson, OneThatStillRunsHasNoEnd) {
  RunReport report = run_report();
  report.processes[0].life.ended_ns.reset();
  report.processes[0].life.wait_status.reset();
  EXPECT_TRUE(has(one_line(report),
                  R"("ended_ns":null,"wait_status":null,"has_execed":true,)"
                  R"("unknown":{"ended_ns":"it still ran",)"
                  R"("wait_status":"it still ran"}})"))
      << one_line(report);
}

TEST(RunJson, OneThatRanInItsParentsSpaceHasNoPeakOfItsOwn) {
  RunReport report = run_report();
  report.processes[0].life.peak_rss_bytes.reset();
  report.processes[0].life.shares_space = true;
  EXPECT_TRUE(has(one_line(report),
                  R"("peak_rss_bytes":"it ran in its parent's address space")"))
      << one_line(report);
}

TEST(RunJson, ThePeakOfAnEarlierImageIsLeftOutWhereThereWasNone) {
  EXPECT_FALSE(has(one_line(run_report()), "earlier_peak_rss_bytes"));
  RunReport report = run_report();
  report.processes[0].life.earlier_peak_rss_bytes = 7;
  EXPECT_TRUE(has(one_line(report), R"("earlier_peak_rss_bytes":7,)"));
}

// ---- names of strangers -----------------------------------------------------

RC_GTEST_PROP(RunJsonProperty, HostileNamesKeepItValid, ()) {
  const RunReport report = hostile_run_report(*hostile_name());
  RC_ASSERT(test::JsonCheck(one_line(report)).is_valid());
  RC_ASSERT(
      test::JsonCheck(run_json(report, JsonWriter::Layout::Pretty)).is_valid());
}

RC_GTEST_PROP(RunJsonProperty, AnyCoverageIsANumber, ()) {
  RunReport report = run_report();
  report.coverage = *rc::gen::arbitrary<double>();
  RC_ASSERT(test::JsonCheck(one_line(report)).is_valid());
}

}  // namespace
}  // namespace tidemark::view
