#include "base/units.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tidemark::base {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
constexpr uint64_t kGiB = 1024 * kMiB;
constexpr uint64_t kEiB = 1024 * 1024 * kGiB * 1024;

uint64_t size_of(std::string_view text) {
  Result<uint64_t> bytes = parse_size(text);
  EXPECT_TRUE(bytes) << text << ": " << bytes.error().what;
  return bytes ? *bytes : 0;
}

uint64_t ns_of(std::string_view text) {
  Result<uint64_t> ns = parse_duration(text);
  EXPECT_TRUE(ns) << text << ": " << ns.error().what;
  return ns ? *ns : 0;
}

TEST(ParseSizeUnit, TakesLettersAndIecNames) {
  EXPECT_EQ(*parse_size_unit("auto"), SizeUnit::Auto);
  EXPECT_EQ(*parse_size_unit("B"), SizeUnit::Bytes);
  EXPECT_EQ(*parse_size_unit("k"), SizeUnit::KiB);
  EXPECT_EQ(*parse_size_unit("MiB"), SizeUnit::MiB);
  EXPECT_EQ(*parse_size_unit("EiB"), SizeUnit::EiB);
}

TEST(ParseSizeUnit, RefusesOthersAndNamesTheRightOnes) {
  for (const char* word : {"", "MB", "mib", "kk", "Auto", "X"}) {
    Result<SizeUnit> unit = parse_size_unit(word);
    ASSERT_FALSE(unit) << word;
    EXPECT_EQ(unit.error().kind, ErrorKind::Misused);
    EXPECT_EQ(unit.error().hint,
              "one of auto, B, KiB, MiB, GiB, TiB, PiB, EiB");
  }
}

TEST(ParseSize, ReadsPlainBytes) {
  EXPECT_EQ(size_of("4096"), 4096U);
}

TEST(ParseSize, CountsIn1024WhateverTheSpelling) {
  EXPECT_EQ(size_of("64MiB"), 64 * kMiB);
  EXPECT_EQ(size_of("64m"), 64 * kMiB);
  EXPECT_EQ(size_of("512 kB"), 512 * kKiB);
  EXPECT_EQ(size_of(" 1.5G "), kGiB + 512 * kMiB);
}

TEST(ParseSize, RoundsAFractionOfAByte) {
  EXPECT_EQ(size_of("0.6"), 1U);
}

TEST(ParseSize, ReadsSizesAboveHalfOfTheRange) {
  EXPECT_EQ(size_of("10E"), 10 * kEiB);
}

TEST(ParseSize, RefusesWhatDoesNotFit) {
  Result<uint64_t> bytes = parse_size("16EiB");
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().what, "'16EiB' is too large");
}

TEST(ParseSize, RefusesWhatIsNoSize) {
  for (const char* text : {"", "M", "-1", "1x", "1e3", "0x10", "inf", "nan",
                           "1,5G", ".", "1 2", "5MB"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(ParseDuration, ReadsEveryUnit) {
  EXPECT_EQ(ns_of("7ns"), 7U);
  EXPECT_EQ(ns_of("500us"), 500'000U);
  EXPECT_EQ(ns_of("100ms"), 100'000'000U);
  EXPECT_EQ(ns_of("2s"), 2'000'000'000U);
  EXPECT_EQ(ns_of("1.5min"), 90'000'000'000U);
  EXPECT_EQ(ns_of("3m"), 180'000'000'000U);
  EXPECT_EQ(ns_of("2h"), 7'200'000'000'000U);
  EXPECT_EQ(ns_of("1d"), 86'400'000'000'000U);
}

TEST(ParseDuration, TakesAPlainNumberAsSeconds) {
  EXPECT_EQ(ns_of("0.5"), 500'000'000U);
}

TEST(ParseDuration, TakesAFrequencyAsItsPeriod) {
  EXPECT_EQ(ns_of("10Hz"), 100'000'000U);
}

TEST(ParseDuration, DoesNotLoseANanosecondToBinaryFractions) {
  EXPECT_EQ(ns_of("4.1ms"), 4'100'000U);
}

TEST(ParseDuration, RefusesPeriodsThatNeverEndOrNeverPass) {
  for (const char* text : {"0", "0s", "-1s", "0Hz", "0.1ns", "400000d"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(ParseDuration, RefusesOtherWordsWithAnExample) {
  Result<uint64_t> ns = parse_duration("soon");
  ASSERT_FALSE(ns);
  EXPECT_EQ(ns.error(), fail(ErrorKind::Misused, "'soon' is not a duration",
                             "write it as 100ms, 2s, 5min or 10Hz"));
}

TEST(ShortSize, HasThreeSignificantDigits) {
  EXPECT_EQ(short_size(0), "0");
  EXPECT_EQ(short_size(999), "999B");
  EXPECT_EQ(short_size(512 * kKiB), "512K");
  EXPECT_EQ(short_size(23 * kMiB), "23.0M");
  EXPECT_EQ(short_size(804 * kMiB), "804M");
  EXPECT_EQ(short_size(6 * kGiB + 113 * kMiB), "6.11G");
  EXPECT_EQ(short_size(UINT64_MAX), "16.0E");
}

TEST(ShortSize, StepsToTheNextUnitBeforeFourDigits) {
  EXPECT_EQ(short_size(1000), "0.98K");
  EXPECT_EQ(short_size(999 * kMiB), "999M");
  EXPECT_EQ(short_size(1000 * kMiB), "0.98G");
}

TEST(ShortSize, KeepsAFixedUnit) {
  EXPECT_EQ(short_size(1536, SizeUnit::Bytes), "1536B");
  EXPECT_EQ(short_size(1536, SizeUnit::KiB), "1.50K");
  EXPECT_EQ(short_size(2 * kGiB, SizeUnit::MiB), "2048M");
}

RC_GTEST_PROP(ShortSize, FitsFiveColumns, (uint64_t bytes)) {
  RC_ASSERT(short_size(bytes).size() <= 5U);
}

TEST(LongSize, SpellsTheUnit) {
  EXPECT_EQ(long_size(0), "0");
  EXPECT_EQ(long_size(5), "5 B");
  EXPECT_EQ(long_size(804 * kMiB), "804 MiB");
  EXPECT_EQ(long_size(kGiB, SizeUnit::GiB), "1 GiB");
}

TEST(Percent, HasOneDecimalBelowTenAndNoneAbove) {
  EXPECT_EQ(percent(0, 10), "0");
  EXPECT_EQ(percent(5, 1000), "0.5");
  EXPECT_EQ(percent(99, 1000), "9.9");
  EXPECT_EQ(percent(105, 1000), "10");
  EXPECT_EQ(percent(1, 3), "33");
}

TEST(Percent, ShowsATrace) {
  EXPECT_EQ(percent(1, 100'000), "<0.1");
}

TEST(Percent, NeverSaysAllWhileSomethingIsMissing) {
  EXPECT_EQ(percent(9997, 10'000), "99.9");
  EXPECT_EQ(percent(UINT64_MAX - 1, UINT64_MAX), "99.9");
  EXPECT_EQ(percent(10, 10), "100");
}

TEST(Percent, CutsAndDoesNotRoundNearTheTop) {
  EXPECT_EQ(percent(9958, 10'000), "99.5");
  EXPECT_EQ(percent(996, 1000), "99.6");
}

TEST(Percent, OfNothingIsZero) {
  EXPECT_EQ(percent(5, 0), "0");
}

TEST(Grouped, SetsACommaEveryThreeDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1204), "1,204");
  EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(LongDuration, PicksTheUnitPeopleWouldSay) {
  EXPECT_EQ(long_duration(250'000), "250 us");
  EXPECT_EQ(long_duration(3'000'000), "3.0 ms");
  EXPECT_EQ(long_duration(42'000'000), "42 ms");
  EXPECT_EQ(long_duration(31'400'000'000), "31.4 s");
  EXPECT_EQ(long_duration(180'000'000'000), "3 min");
  EXPECT_EQ(long_duration(4'320'000'000'000), "1 h 12 min");
  EXPECT_EQ(long_duration(7'920'000'000'000), "2 h 12 min");
}

}  // namespace
}  // namespace tidemark::base
