#include "base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tidemark::base {
namespace {

TEST(TakeUntil, RemovesWhatItReturnsAndTheStop) {
  std::string_view rest = "key:value:more";
  EXPECT_EQ(take_until(rest, ':'), "key");
  EXPECT_EQ(rest, "value:more");
}

TEST(TakeUntil, TakesEverythingWithoutAStop) {
  std::string_view rest = "last line";
  EXPECT_EQ(take_until(rest, '\n'), "last line");
  EXPECT_EQ(rest, "");
}

TEST(TakeUntil, ReturnsNothingInFrontOfALeadingStop) {
  std::string_view rest = ":x";
  EXPECT_EQ(take_until(rest, ':'), "");
  EXPECT_EQ(rest, "x");
}

TEST(TakeWord, SkipsRunsOfBlanksAndTabs) {
  std::string_view rest = " \t one\t two ";
  EXPECT_EQ(take_word(rest), "one");
  EXPECT_EQ(take_word(rest), "two");
  EXPECT_EQ(take_word(rest), "");
  EXPECT_EQ(rest, "");
}

TEST(Trim, KeepsBlanksInside) {
  EXPECT_EQ(trim("\t a b \r\n"), "a b");
}

TEST(Trim, LeavesNothingOfBlanks) {
  EXPECT_EQ(trim(" \n\t "), "");
}

TEST(ParseU64, ReadsTheLargestNumber) {
  EXPECT_EQ(parse_u64("18446744073709551615"), UINT64_MAX);
}

TEST(ParseU64, RefusesOneMoreThanTheLargest) {
  EXPECT_FALSE(parse_u64("18446744073709551616"));
}

TEST(ParseU64, RefusesHalfANumber) {
  for (const char* token : {"", " 1", "1 ", "1k", "+1", "-1", "0x1", "1.0"}) {
    EXPECT_FALSE(parse_u64(token)) << token;
  }
}

TEST(ParseI64, ReadsBothEnds) {
  EXPECT_EQ(parse_i64("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(parse_i64("9223372036854775807"), INT64_MAX);
  EXPECT_FALSE(parse_i64("9223372036854775808"));
}

TEST(ParseHex, ReadsSixteenDigitsAndNotSeventeen) {
  EXPECT_EQ(parse_hex("ffffffffff600000"), 0xffffffffff600000U);
  EXPECT_FALSE(parse_hex("1ffffffffff600000"));
}

TEST(ParseHex, RefusesAPrefix) {
  EXPECT_FALSE(parse_hex("0x10"));
}

TEST(ParsePid, TakesPositiveNumbersThatFit) {
  EXPECT_EQ(parse_pid("4194304"), 4194304);
  EXPECT_EQ(parse_pid("2147483647"), INT32_MAX);
}

TEST(ParsePid, RefusesWhatIsNoProcess) {
  for (const char* token : {"0", "-1", "2147483648", "self", "1a", ""}) {
    EXPECT_FALSE(parse_pid(token)) << token;
  }
}

TEST(ParseKib, MultipliesBy1024) {
  EXPECT_EQ(parse_kib("   12 kB"), 12288U);
}

TEST(ParseKib, RefusesOtherUnitsAndMissingOnes) {
  for (const char* value : {"12", "12 KB", "12 MB", "12kB", "kB", "", "1 kB x",
                            "-1 kB", "1 2 kB"}) {
    EXPECT_FALSE(parse_kib(value)) << value;
  }
}

TEST(ParseKib, RefusesWhatOverflowsAsBytes) {
  // 2^54 - 1 KiB is the last that fits into 64 bits.
  EXPECT_EQ(parse_kib("18014398509481983 kB"), 18446744073709550592U);
  EXPECT_FALSE(parse_kib("18014398509481984 kB"));
}

TEST(Split, KeepsEmptyPartsBetweenSeparators) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
}

TEST(Split, OfNothingIsNothing) {
  EXPECT_TRUE(split("", ',').empty());
}

TEST(BaseName, IsWhatFollowsTheLastSlash) {
  EXPECT_EQ(base_name("/usr/lib/libc.so.6"), "libc.so.6");
  EXPECT_EQ(base_name("plain"), "plain");
  EXPECT_EQ(base_name("ends/"), "");
}

TEST(EditDistance, CountsEachKindOfTypoOnce) {
  EXPECT_EQ(edit_distance("watch", "watch"), 0U);
  EXPECT_EQ(edit_distance("wach", "watch"), 1U) << "insert";
  EXPECT_EQ(edit_distance("wattch", "watch"), 1U) << "drop";
  EXPECT_EQ(edit_distance("walch", "watch"), 1U) << "replace";
  EXPECT_EQ(edit_distance("wacth", "watch"), 1U) << "swap of neighbours";
}

TEST(EditDistance, OfNothingIsTheLength) {
  EXPECT_EQ(edit_distance("", "peak"), 4U);
  EXPECT_EQ(edit_distance("peak", ""), 4U);
}

RC_GTEST_PROP(ParseU64, ReadsWhatToStringPrints, (uint64_t number)) {
  RC_ASSERT(parse_u64(std::to_string(number)) == number);
}

RC_GTEST_PROP(EditDistance, IsTheSameBothWays,
              (const std::string& a, const std::string& b)) {
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
}

}  // namespace
}  // namespace tidemark::base
