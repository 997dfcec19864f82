#include "view/csv/export.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "unit/view/export_example.h"

namespace tidemark::view {
namespace {

constexpr ExportTable kTables[] = {
    ExportTable::Processes, ExportTable::Mappings, ExportTable::Categories,
    ExportTable::Machine};

// Commas that part fields.
ptrdiff_t commas(std::string_view line) {
  bool is_quoted = false;
  return std::ranges::count_if(line, [&](char c) {
    if (c == '"') is_quoted = !is_quoted;
    return c == ',' && !is_quoted;
  });
}

std::vector<std::string> rows_of(ExportTable table,
                                 const model::Sample& sample) {
  const std::string text = export_csv_rows(table, exported_moment(sample));
  std::vector<std::string> rows;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    rows.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return rows;
}

TEST(ExportCsv, EveryRowHasTheFieldsOfItsHead) {
  const model::Sample sample = exported_sample();
  for (ExportTable table : kTables) {
    for (const std::string& row : rows_of(table, sample))
      EXPECT_EQ(commas(row), commas(export_csv_head(table))) << row;
  }
}

TEST(ExportCsv, AProcessIsOneLineWhateverItIsCalled) {
  const std::vector<std::string> rows =
      rows_of(ExportTable::Processes, exported_sample());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0].starts_with(
      "2026-11-15T08:05:47.943000000Z,17,7,100,0,\"a;b\\n\"\"c\"\",d\",ok,15,"
      "24576,12288,,,,,2,36864,4096,409600,"))
      << rows[0];
  EXPECT_TRUE(rows[1].starts_with(
      "2026-11-15T08:05:47.943000000Z,17,8,200,0,secret,denied,,,,"))
      << rows[1];
}

TEST(ExportCsv, MappingsTellWhereWhatAndHowMuch) {
  const std::vector<std::string> rows =
      rows_of(ExportTable::Mappings, exported_sample());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NE(rows[1].find(",15,0xffffffffff600000,0xffffffffff602000,rw-p,0,"
                         "00:00,0,file,file,\"/x;y, z\",,,,8192,4096,"),
            std::string::npos)
      << rows[1];
}

TEST(ExportCsv, CategoriesAreAlwaysTheSameAndHaveTheirBounds) {
  const std::vector<std::string> rows =
      rows_of(ExportTable::Categories, exported_sample());
  ASSERT_EQ(rows.size(), 8U);
  EXPECT_TRUE(rows[0].ends_with(",heap,16384,8192,,,8192,8192,0")) << rows[0];
  EXPECT_TRUE(rows[1].ends_with(",anon,0,0,0,,0,0,0")) << rows[1];
}

TEST(ExportCsv, NoMachineNoRow) {
  model::Sample sample = exported_sample();
  EXPECT_EQ(rows_of(ExportTable::Machine, sample).size(), 1U);
  sample.machine.reset();
  EXPECT_TRUE(rows_of(ExportTable::Machine, sample).empty());
}

}  // namespace
}  // namespace tidemark::view
