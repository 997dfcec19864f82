#include "view/json/export.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "unit/json_check.h"
#include "unit/view/export_example.h"

namespace tidemark::view {
namespace {

std::string line() {
  const model::Sample sample = exported_sample();
  return export_json_line(exported_moment(sample));
}

TEST(ExportJson, IsOneLineOfValidJson) {
  const std::string text = line();
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  EXPECT_TRUE(text.ends_with('\n'));
  EXPECT_TRUE(test::JsonCheck(text).is_valid()) << text;
  EXPECT_TRUE(
      text.starts_with("{\"schema\":\"tidemark.export/1\",\"tick\":17,"
                       "\"time\":\"2026-11-15T08:05:47.943000000Z\","))
      << text;
}

TEST(ExportJson, KeepsNamesToTheByte) {
  const std::string text = line();
  test::JsonCheck check(text);
  ASSERT_TRUE(check.is_valid());
  EXPECT_NE(std::ranges::find(check.strings(), "a;b\n\"c\",d"),
            check.strings().end());
}

TEST(ExportJson, MappingsThatWereNotReadAreNullAndSayWhy) {
  EXPECT_NE(line().find("\"mappings\":null,\"unknown\":{\"mappings\":\"denied: "
                        "/proc/8/smaps\"}"),
            std::string::npos)
      << line();
}

TEST(ExportJson, UnknownNumbersAreNull) {
  EXPECT_NE(line().find("\"uss_bytes\":null"), std::string::npos);
  EXPECT_EQ(line().find("\"private_dirty_bytes\""), std::string::npos)
      << "a field the kernel did not print is left out of a mapping";
}

TEST(ExportJson, NotesNameTheirProcess) {
  EXPECT_NE(line().find("{\"pid\":null,\"text\":\"of all\"}"),
            std::string::npos)
      << line();
}

}  // namespace
}  // namespace tidemark::view
