#include "base/time_zone.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

namespace tidemark::base {
namespace {

constexpr uint64_t kMoment = 1'794'729'947'943'000'000;  // 08:05:47.943 UTC
constexpr const char* kText = "2026-11-15T08:05:47.943";

TimeZone zone(std::string_view word) {
  Result<TimeZone> made = TimeZone::parse(word);
  EXPECT_TRUE(made) << word;
  return made ? *made : TimeZone();
}

TEST(TimeZone, ReadsWhatHasNoneAsItsOwn) {
  EXPECT_EQ(zone("UTC").read(kText), kMoment);
  EXPECT_EQ(zone("+01:00").read(kText), kMoment - 3'600'000'000'000);
  EXPECT_EQ(zone("-05:30").read(kText), kMoment + 19'800'000'000'000);
}

TEST(TimeZone, AZoneInTheTextWins) {
  EXPECT_EQ(zone("+01:00").read(std::string(kText) + "Z"), kMoment);
  EXPECT_EQ(zone("UTC").read("2026-11-15 09:05:47.943+01:00"), kMoment);
}

TEST(TimeZone, WritesWhatItReads) {
  for (const char* word : {"UTC", "local", "+01:00", "-09:30", "+14:00"}) {
    const TimeZone there = zone(word);
    EXPECT_EQ(there.read(there.write(kMoment)), kMoment) << word;
  }
  EXPECT_EQ(zone("UTC").write(kMoment), kText);
  EXPECT_EQ(zone("+01:00").write(kMoment), "2026-11-15T09:05:47.943");
}

TEST(TimeZone, LocalIsThatOfTheSystem) {
  ::setenv("TZ", "XYZ-2", 1);
  ::tzset();
  EXPECT_EQ(zone("local").read(kText), kMoment - 7'200'000'000'000);
  EXPECT_EQ(zone("local").write(kMoment), "2026-11-15T10:05:47.943");
  ::unsetenv("TZ");
  ::tzset();
}

TEST(TimeZone, SaysWhatItIs) {
  EXPECT_EQ(zone("local").words(), "local time");
  EXPECT_EQ(zone("UTC").words(), "UTC");
  EXPECT_EQ(zone("+02:00").words(), "+02:00");
}

TEST(TimeZone, RefusesOtherWords) {
  for (const char* word : {"", "Mars", "+1", "+25:00", "01:00", "Z+01:00"}) {
    Result<TimeZone> made = TimeZone::parse(word);
    ASSERT_FALSE(made) << word;
    EXPECT_EQ(made.error().kind, ErrorKind::Misused);
  }
}

TEST(TimeZone, RefusesWhatIsNoTime) {
  for (const char* text : {"", "yesterday", "2026-13-01T00:00:00", "12:00"}) {
    EXPECT_FALSE(zone("UTC").read(text)) << text;
  }
}

}  // namespace
}  // namespace tidemark::base
