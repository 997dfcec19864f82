#include "view/text/buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/escape.h"
#include "unit/json_check.h"
#include "view/csv/buckets.h"
#include "view/json/buckets.h"

namespace tidemark::view {
namespace {

using analysis::BucketKind;
using analysis::BucketReport;

constexpr uint64_t kMiB = uint64_t{1} << 20;

BucketReport example() {
  BucketReport report;
  report.total_bytes = 1000 * kMiB;
  report.lines = {{"Databases", BucketKind::Rule, 300 * kMiB, 12, 3},
                  {"Nobody", BucketKind::Rule, 0, 0, 0},
                  {"Undigested", BucketKind::Undigested, 100 * kMiB, 2, 2},
                  {"Orphaned", BucketKind::Orphaned, 200 * kMiB},
                  {"Kernel", BucketKind::Kernel, 150 * kMiB},
                  {"Free", BucketKind::Free, 250 * kMiB}};
  report.undigested = {{"/x", 70 * kMiB, 1, "a", 7, "/a"},
                       {"/y", 30 * kMiB, 2, "b", 8, "/b"}};
  return report;
}

std::string text_of(const BucketReport& report, size_t limit = 0) {
  BucketTextOptions options;
  options.with_undigested = limit > 0;
  options.undigested_limit = limit;
  return buckets_text(report, options, TextStyle());
}

TEST(BucketText, HasALineForEachRuleThatTookSomething) {
  const std::string text = text_of(example());
  EXPECT_NE(text.find("Databases"), std::string::npos);
  EXPECT_EQ(text.find("Nobody"), std::string::npos);
  EXPECT_NE(text.find("sum: all RAM"), std::string::npos);
  EXPECT_EQ(text.find("/x"), std::string::npos);
}

TEST(BucketText, ListsTheUndigestedAndSumsTheRest) {
  const std::string text = text_of(example(), 1);
  EXPECT_NE(text.find("/x"), std::string::npos);
  EXPECT_EQ(text.find("/y"), std::string::npos);
  EXPECT_NE(text.find("and 1 smaller: 30.0 MiB"), std::string::npos) << text;
}

TEST(BucketText, FitsTheScreenAndShowsNoControlCharacters) {
  BucketReport report = example();
  report.lines[0].name = "evil\n\x1b[31m" + std::string(100, 'x');
  report.undigested[0].name = report.undigested[0].process =
      report.lines[0].name;
  const std::string text = text_of(report, 5);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    EXPECT_LE(base::display_width(text.substr(begin, end - begin)), 80U)
        << text;
    begin = end + 1;
  }
}

TEST(BucketText, SaysWhoCouldNotBeRead) {
  BucketReport report = example();
  report.unknown_process_count = 2;
  EXPECT_NE(text_of(report).find("2 processes could not be read"),
            std::string::npos);
}

TEST(BucketCsv, KeepsRulesThatTookNothing) {
  const std::string csv = buckets_csv(example());
  EXPECT_NE(csv.find(",Nobody,rule,0,0,0\n"), std::string::npos) << csv;
  EXPECT_EQ(std::ranges::count(csv, '\n'), 7);
  EXPECT_EQ(std::ranges::count(undigested_csv(example()), '\n'), 3);
}

TEST(BucketJson, IsOneObjectWithASchema) {
  BucketReport report = example();
  report.undigested[0].name = "a\"\n\xff";
  const std::string json =
      buckets_json(report, true, base::JsonWriter::Layout::OneLine);
  EXPECT_TRUE(test::JsonCheck(json).is_valid()) << json;
  EXPECT_TRUE(json.starts_with(R"({"schema":"tidemark.buckets/1",)")) << json;
  EXPECT_NE(json.find(R"("undigested":[)"), std::string::npos);
  EXPECT_EQ(buckets_json(report, false, base::JsonWriter::Layout::OneLine)
                .find(R"("undigested":[)"),
            std::string::npos);
}

}  // namespace
}  // namespace tidemark::view
