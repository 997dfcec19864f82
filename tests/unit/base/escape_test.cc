#include "base/escape.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "unit/utf8.h"

namespace tidemark::base {
namespace {

// Bytes as a stranger would choose them: pieces that mean something to a
// terminal or a decoder, between arbitrary ones.
rc::Gen<std::string> hostile_bytes() {
  const rc::Gen<std::string> piece = rc::gen::oneOf(
      rc::gen::arbitrary<std::string>(),
      rc::gen::element<std::string>("\x1b[31m", "\xff", "\xc2\x85", "\xc3",
                                    "\xe2\x80\xae", "\xed\xa0\x80", "\xc0\xaf",
                                    "\xf0\x9f\xa6\x80", "\xe5\xae\xbd", "e\xcc",
                                    "\xcc\x81", "\n", "\\", "\x7f", "\"", ","));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string joined;
                        for (const std::string& one : pieces)
                          joined += one;
                        return joined;
                      });
}

TEST(Visible, LeavesPlainTextAndBackslashesAlone) {
  EXPECT_EQ(visible("C:\\dir name~"), "C:\\dir name~");
}

TEST(Visible, LeavesLettersOfOtherScriptsAlone) {
  EXPECT_EQ(visible("Gr\u00fc\u00dfe \u5bbd\u5b57 \U0001f980"),
            "Gr\u00fc\u00dfe \u5bbd\u5b57 \U0001f980");
}

TEST(Visible, NamesTheCommonControls) {
  EXPECT_EQ(visible("a\nb\tc\rd"), "a\\nb\\tc\\rd");
}

TEST(Visible, DisarmsEscapeSequences) {
  EXPECT_EQ(visible("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
}

TEST(Visible, ShowsNulAndDel) {
  EXPECT_EQ(visible(std::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
}

TEST(Visible, ShowsC1Controls) {
  // U+009B is CSI: some terminals take it as ESC [.
  EXPECT_EQ(visible("\xc2\x9b"
                    "2J"),
            "\\x9b2J");
}

TEST(Visible, ShowsDirectionMarks) {
  EXPECT_EQ(visible("\u202egpj.exe"), "\\u202egpj.exe");
  EXPECT_EQ(visible("\u2067x\u2069"), "\\u2067x\\u2069");
  EXPECT_EQ(visible("\u061c"), "\\u061c");
}

TEST(Visible, ShowsInvisibleCharacters) {
  EXPECT_EQ(visible("a\u200bb\u00ad\ufeff"), "a\\u200bb\\xad\\ufeff");
}

TEST(Visible, ShowsLineSeparators) {
  EXPECT_EQ(visible("\u2028"), "\\u2028");
}

TEST(Visible, ShowsTagsWithEightDigits) {
  EXPECT_EQ(visible("\U000e0041"), "\\U000e0041");
}

TEST(Visible, ShowsInvalidBytesOneByOne) {
  EXPECT_EQ(visible("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(visible("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(visible("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80")
      << "above U+10FFFF";
}

TEST(Visible, ShowsATruncatedSequence) {
  EXPECT_EQ(visible("a\xe5\xae"), "a\\xe5\\xae");
}

RC_GTEST_PROP(Visible, IsUtf8WithoutControlBytes, ()) {
  const std::string shown = visible(*hostile_bytes());
  RC_ASSERT(test::is_utf8(shown));
  RC_ASSERT(!test::has_control(shown));
}

RC_GTEST_PROP(Visible, LeavesItsOwnResultAlone, ()) {
  const std::string shown = visible(*hostile_bytes());
  RC_ASSERT(visible(shown) == shown);
}

TEST(ValidUtf8, KeepsControlCharacters) {
  EXPECT_EQ(valid_utf8("a\n\x1b"), "a\n\x1b");
}

TEST(ValidUtf8, ReplacesOnlyInvalidBytes) {
  EXPECT_EQ(valid_utf8("\u5bbd\xff"), "\u5bbd\\xff");
}

RC_GTEST_PROP(ValidUtf8, IsUtf8, ()) {
  RC_ASSERT(test::is_utf8(valid_utf8(*hostile_bytes())));
}

TEST(CsvField, LeavesAPlainFieldBare) {
  EXPECT_EQ(csv_field("two words"), "two words");
}

TEST(CsvField, QuotesCommasAndDoublesQuotes) {
  EXPECT_EQ(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
}

TEST(CsvField, KeepsARecordOnOneLine) {
  EXPECT_EQ(csv_field("a\r\nb"), "a\\r\\nb");
}

TEST(DisplayWidth, CountsColumnsAndNotBytes) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("plain"), 5U);
  EXPECT_EQ(display_width("Gr\u00fc\u00dfe"), 5U);
  EXPECT_EQ(display_width("\u5bbd\u5b57"), 4U) << "wide";
  EXPECT_EQ(display_width("e\u0301"), 1U) << "combining";
  EXPECT_EQ(display_width("\U0001f980"), 2U) << "emoji";
}

TEST(FitWidth, LeavesWhatFits) {
  EXPECT_EQ(fit_width("abc", 3, "…"), "abc");
}

TEST(FitWidth, EndsWhatIsCutInTheEllipsis) {
  EXPECT_EQ(fit_width("abcdef", 4, "…"), "abc…");
}

TEST(FitWidth, DoesNotHalveAWideCharacter) {
  EXPECT_EQ(fit_width("\u5bbd\u5b57\u5bbd", 4, "…"), "\u5bbd…");
}

TEST(FitWidth, KeepsAMarkWithItsLetter) {
  EXPECT_EQ(fit_width("e\u0301e\u0301e\u0301", 2, "…"), "e\u0301…");
}

TEST(FitWidth, LeavesTheEllipsisOutWhenItDoesNotFitItself) {
  EXPECT_EQ(fit_width("abc", 0, "…"), "");
  EXPECT_EQ(fit_width("abcdef", 2, "..."), "ab");
}

RC_GTEST_PROP(FitWidth, NeverExceedsTheColumns, ()) {
  const std::string text = visible(*hostile_bytes());
  const auto columns = *rc::gen::inRange<size_t>(0, 40);
  RC_ASSERT(display_width(fit_width(text, columns, "…")) <= columns);
}

TEST(Characters, AreTakenOneByOneAndPutTogetherAgain) {
  const std::string text = "a\u00e9\u65e5\u0301\U0001f600";
  std::string_view rest = text;
  std::string again;
  std::vector<size_t> widths;
  while (!rest.empty()) {
    const Character next = take_character(rest);
    widths.push_back(next.width);
    append_utf8(again, next.code_point);
  }
  EXPECT_EQ(again, text);
  EXPECT_EQ(widths, (std::vector<size_t>{1, 1, 2, 0, 2}));
}

TEST(Characters, AreReplacedWhereTheyAreNoUtf8) {
  std::string_view rest = "\xff!";
  EXPECT_EQ(take_character(rest).code_point, U'\ufffd');
  EXPECT_EQ(rest, "!");
}

}  // namespace
}  // namespace tidemark::base
