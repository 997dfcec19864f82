#include "view/json/system.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/json_check.h"
#include "unit/view/json/unknowns.h"
#include "unit/view/system_example.h"
#include "view/csv/system.h"

namespace tidemark::view {
namespace {

using base::JsonWriter;

TEST(SystemJson, HasEveryColumnAndTheRest) {
  const std::string json =
      system_json(system_example(), JsonWriter::Layout::OneLine, false);
  EXPECT_TRUE(json.starts_with(R"({"schema":"tidemark.system/1",)")) << json;
  EXPECT_NE(json.find(R"("total_bytes":1073741824)"), std::string::npos);
  EXPECT_NE(json.find(R"("columns":{"free":419430400,)"), std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("other_bytes":)"), std::string::npos);
  EXPECT_EQ(json.find("terms"), std::string::npos);
}

TEST(SystemJson, GivesTheReasonOfAnUnknown) {
  analysis::SystemReport report = system_example();
  report.columns[0].bytes = model::unknown<int64_t>("denied: \xff\x1b\"");
  const std::string json =
      system_json(report, JsonWriter::Layout::Pretty, true);
  EXPECT_TRUE(test::JsonCheck(json).is_valid()) << json;
  EXPECT_TRUE(UnknownsCheck(json, {}).complaints().empty());
}

TEST(SystemCsv, HasAnEmptyFieldForAnUnknown) {
  analysis::SystemReport report = system_example();
  report.columns[0].bytes = model::unknown<int64_t>("denied");
  const std::string row = system_csv_row(report);
  EXPECT_TRUE(
      row.starts_with("2025-11-15T08:11:08.123456789Z,1073741824,,20971520,"))
      << row;
  const std::string head = system_csv_head();
  EXPECT_EQ(std::ranges::count(head, ','), std::ranges::count(row, ','));
}

}  // namespace
}  // namespace tidemark::view
