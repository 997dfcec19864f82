#include "base/json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "base/escape.h"
#include "unit/json_check.h"

namespace tidemark::base {
namespace {

std::string one_string(std::string_view bytes) {
  JsonWriter json(JsonWriter::Layout::OneLine);
  json.string(bytes);
  return json.take();
}

std::string one_number(auto value) {
  JsonWriter json(JsonWriter::Layout::OneLine);
  json.number(value);
  return json.take();
}

TEST(JsonWriter, WritesOneLine) {
  JsonWriter json(JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("name", "zoo");
  json.key("pids");
  json.begin_array();
  json.number(uint64_t{1});
  json.number(int64_t{-2});
  json.end_array();
  json.member("is_done", true);
  json.end_object();
  EXPECT_EQ(json.take(),
            "{\"name\":\"zoo\",\"pids\":[1,-2],\"is_done\":true}\n");
}

TEST(JsonWriter, IndentsByTwoWhenPretty) {
  JsonWriter json(JsonWriter::Layout::Pretty);
  json.begin_object();
  json.member("a", 1U);
  json.key("b");
  json.begin_array();
  json.boolean(false);
  json.end_array();
  json.end_object();
  EXPECT_EQ(json.take(),
            "{\n"
            "  \"a\": 1,\n"
            "  \"b\": [\n"
            "    false\n"
            "  ]\n"
            "}\n");
}

TEST(JsonWriter, KeepsEmptyContainersOnOneLine) {
  JsonWriter json(JsonWriter::Layout::Pretty);
  json.begin_array();
  json.begin_object();
  json.end_object();
  json.begin_array();
  json.end_array();
  json.end_array();
  EXPECT_EQ(json.take(), "[\n  {},\n  []\n]\n");
}

TEST(JsonWriter, WritesAnAbsentValueAsNull) {
  JsonWriter json(JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("known", std::optional<uint64_t>(0));
  json.member("unknown", std::optional<uint64_t>());
  json.member("word", std::optional<std::string>("x"));
  json.end_object();
  EXPECT_EQ(json.take(), "{\"known\":0,\"unknown\":null,\"word\":\"x\"}\n");
}

TEST(JsonWriter, KeepsAllDigitsOfLargeNumbers) {
  EXPECT_EQ(one_number(UINT64_MAX), "18446744073709551615\n");
  EXPECT_EQ(one_number(INT64_MIN), "-9223372036854775808\n");
}

TEST(JsonWriter, WritesFractionsInTheShortestForm) {
  EXPECT_EQ(one_number(0.1), "0.1\n");
}

TEST(JsonWriter, HasNoWordForInfinity) {
  EXPECT_EQ(one_number(std::numeric_limits<double>::infinity()), "null\n");
  EXPECT_EQ(one_number(std::numeric_limits<double>::quiet_NaN()), "null\n");
}

TEST(JsonWriter, EscapesQuotesBackslashesAndControls) {
  EXPECT_EQ(one_string("\"\\\n\t\x1b\x7f"),
            "\"\\\"\\\\\\n\\t\\u001b\\u007f\"\n");
}

TEST(JsonWriter, EscapesNul) {
  EXPECT_EQ(one_string(std::string_view("a\0b", 3)), "\"a\\u0000b\"\n");
}

TEST(JsonWriter, ShowsInvalidBytesAsTheirHexDigits) {
  EXPECT_EQ(one_string("a\xff"), "\"a\\\\xff\"\n");
}

TEST(JsonWriter, LeavesOtherScriptsReadable) {
  EXPECT_EQ(one_string("\u5bbd"), "\"\u5bbd\"\n");
}

TEST(JsonWriter, EscapesKeysToo) {
  JsonWriter json(JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("a\"b", "");
  json.end_object();
  EXPECT_EQ(json.take(), "{\"a\\\"b\":\"\"}\n");
}

TEST(JsonWriter, IsEmptyAfterTake) {
  JsonWriter json(JsonWriter::Layout::OneLine);
  json.null();
  EXPECT_EQ(json.take(), "null\n");
  json.boolean(true);
  EXPECT_EQ(json.take(), "true\n");
}

RC_GTEST_PROP(JsonWriter, WritesAnyBytesAsValidJson,
              (const std::vector<uint8_t>& bytes, bool is_pretty)) {
  const std::string text(bytes.begin(), bytes.end());
  JsonWriter json(is_pretty ? JsonWriter::Layout::Pretty
                            : JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member(text, text);
  json.end_object();
  const std::string written = json.take();
  test::JsonCheck check(written);
  RC_ASSERT(check.is_valid());
  RC_ASSERT(check.strings() ==
            (std::vector<std::string>{valid_utf8(text), valid_utf8(text)}));
}

RC_GTEST_PROP(JsonWriter, WritesAnyFractionAsValidJson, (double value)) {
  const std::string text = one_number(value);
  RC_ASSERT(test::JsonCheck(text).is_valid());
}

}  // namespace
}  // namespace tidemark::base
