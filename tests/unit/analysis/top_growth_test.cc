#include "analysis/top_growth.h"

#include <gtest/gtest.h>

#include "analysis/top_history.h"

namespace tidemark::analysis {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TEST(GrowthTrack, ComparesWithTheFirstValueItSaw) {
  GrowthTrack track;
  track.add(5 * kSecond, 100);
  EXPECT_EQ(track.grown(5 * kSecond), 0);
  track.add(6 * kSecond, 150);
  EXPECT_EQ(track.grown(6 * kSecond), 50);
  track.add(7 * kSecond, 30);
  EXPECT_EQ(track.grown(7 * kSecond), -70);
}

TEST(GrowthTrack, ForgetsWhatIsOlderThanTheHistory) {
  GrowthTrack track;
  for (uint64_t minute = 0; minute <= 20; ++minute)
    track.add(minute * 60 * kSecond, minute * 10);
  EXPECT_EQ(track.grown(uint64_t{1200} * kSecond), 100)
      << "ten minutes of twenty";
}

TEST(GrowthTrack, StopsGrowingWhenTheValueStands) {
  GrowthTrack track;
  track.add(0, 100);
  for (uint64_t minute = 1; minute <= 15; ++minute)
    track.add(minute * 60 * kSecond, 300);
  EXPECT_EQ(track.grown(uint64_t{900} * kSecond), 0);
}

TEST(NamedGrowth, NamesTheLargestFirstAndForgetsWhatIsGone) {
  NamedGrowth growth;
  const model::ProcessId holder = {7, 70};
  growth.add(0, {{"a", {100, holder}}, {"b", {100, {}}}, {"c", {100, {}}}});
  growth.add(kSecond, {{"a", {150, holder}}, {"b", {300, {}}}});
  const std::vector<TopGrower> growers = growth.growers(kSecond, 5);
  ASSERT_EQ(growers.size(), 2U);
  EXPECT_EQ(growers[0].name, "b");
  EXPECT_EQ(growers[0].bytes, 200);
  EXPECT_EQ(growers[1].holder, holder);
  EXPECT_EQ(growth.growers(kSecond, 1).size(), 1U);
}

}  // namespace
}  // namespace tidemark::analysis
