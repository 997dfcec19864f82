#include "view/json/get.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "unit/json_check.h"
#include "unit/parts.h"
#include "unit/view/examples.h"
#include "unit/view/json/unknowns.h"

namespace tidemark::view {
namespace {

using analysis::GetReport;
using base::JsonWriter;

std::string one_line(const GetReport& report) {
  return get_json(report, JsonWriter::Layout::OneLine);
}

using test::has;

TEST(GetJson, OpensWithItsSchema) {
  const std::string json = one_line(get_report({get_process(42, "postgres")}));
  EXPECT_TRUE(json.starts_with(R"({"schema":"tidemark.get/1",)")) << json;
}

TEST(GetJson, IsOneLineForAWatch) {
  const std::string json = one_line(get_report({get_process(42, "a\nb")}));
  EXPECT_EQ(json.find('\n'), json.size() - 1) << json;
}

TEST(GetJson, AProcessIsToldByPidAndStart) {
  const std::string json = one_line(get_report({get_process(42, "postgres")}));
  EXPECT_TRUE(has(json, R"("processes":[{"pid":42,"start_ticks":1000,)"))
      << json;
}

TEST(GetJson, ADeniedProcessHasItsReasonBesideTheNull) {
  const std::string json =
      one_line(get_report({denied_get_process(43, "sshd")}));
  EXPECT_TRUE(has(json, R"("state":"denied")")) << json;
  EXPECT_TRUE(has(json, R"("unknown":{"in_ram_bytes":"denied: /proc/43/smaps: )"
                        R"(Permission denied",)"))
      << json;
}

TEST(GetJson, ASumOverADeniedProcessIsALowerBound) {
  const std::string json = one_line(get_report(
      {get_process(42, "postgres"), denied_get_process(43, "sshd")}));
  const std::string total = json.substr(0, json.find(R"("processes")"));
  EXPECT_TRUE(has(total, R"("lower_bounds":["in_ram_bytes","pss_bytes",)"))
      << total;
}

TEST(GetJson, CategoriesAppearOnlyWhereMappingsWereRead) {
  EXPECT_FALSE(has(one_line(get_report({get_process(42, "postgres")})),
                   R"("categories")"));
}

TEST(GetJson, NotesAreAListOfWords) {
  GetReport report = get_report({get_process(42, "postgres")});
  report.notes = {"2 processes share huge pages"};
  EXPECT_TRUE(
      one_line(report).ends_with(R"("notes":["2 processes share huge pages"]})"
                                 "\n"))
      << one_line(report);
}

TEST(GetJson, ThePeakOfAWatchIsMarked) {
  const std::string json =
      get_peak_json(get_report({get_process(42, "postgres")}), {7, 0, {}});
  EXPECT_TRUE(
      json.ends_with(R"("is_peak":true,"sample_count":7,"new_high_count":0})"
                     "\n"))
      << json;
}

TEST(GetJson, EveryNullHasItsReason) {
  EXPECT_EQ(
      broken_unknowns(one_line(get_report(
          {get_process(42, "postgres"), denied_get_process(43, "sshd")}))),
      "");
}

TEST(GetJson, EveryNullOfAnUnknownTotalHasItsReason) {
  EXPECT_EQ(
      broken_unknowns(one_line(get_report({denied_get_process(43, "sshd")}))),
      "");
}

// A kernel without smaps_rollup tells PSS, but not what it is made of.
TEST(GetJson, ATotalUnknownInPartHasReasonsForThatPart) {
  analysis::GetProcess process = get_process(42, "postgres");
  process.use.pss_anon = model::amount_of(std::nullopt);
  process.unknown = {{"pss_anon_bytes", "not reported by this kernel"}};
  EXPECT_EQ(broken_unknowns(one_line(get_report({process}))), "");
}

TEST(GetJson, AnUnknownHighWaterMarkHasItsReason) {
  analysis::GetProcess process = get_process(42, "postgres");
  process.peak_rss_bytes.reset();
  EXPECT_EQ(broken_unknowns(one_line(get_report({process}))), "");
}

RC_GTEST_PROP(GetJsonProperty, HostileNamesKeepItValid, ()) {
  const GetReport report = hostile_get_report(*hostile_name());
  RC_ASSERT(test::JsonCheck(one_line(report)).is_valid());
  RC_ASSERT(
      test::JsonCheck(get_json(report, JsonWriter::Layout::Pretty)).is_valid());
  RC_ASSERT(test::JsonCheck(get_peak_json(report, {1, 0, {}})).is_valid());
}

}  // namespace
}  // namespace tidemark::view
