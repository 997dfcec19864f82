#include "analysis/top_growth.h"

#include <gtest/gtest.h>

#include "analysis/top_history.h"
#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using test::kSecondNs;

TEST(GrowthTrack, ComparesWithTheFirstValueItSaw) {
  GrowthTrack track;
  track.add(5 * kSecondNs, 100);
  EXPECT_EQ(track.grown(5 * kSecondNs), 0);
  track.add(6 * kSecondNs, 150);
  EXPECT_EQ(track.grown(6 * kSecondNs), 50);
  track.add(7 * kSecondNs, 30);
  EXPECT_EQ(track.grown(7 * kSecondNs), -70);
}

TEST(GrowthTrack, ForgetsWhatIsOlderThanTheHistory) {
  GrowthTrack track;
  for (uint64_t minute = 0; minute <= 20; ++minute)
    track.add(minute * 60 * kSecondNs, minute * 10);
  EXPECT_EQ(track.grown(uint64_t{1200} * kSecondNs), 100)
      << "ten minutes of twenty";
}

TEST(GrowthTrack, StopsGrowingWhenTheValueStands) {
  GrowthTrack track;
  track.add(0, 100);
  for (uint64_t minute = 1; minute <= 15; ++minute)
    track.add(minute * 60 * kSecondNs, 300);
  EXPECT_EQ(track.grown(uint64_t{900} * kSecondNs), 0);
}

TEST(NamedGrowth, NamesTheLargestFirstAndForgetsWhatIsGone) {
  NamedGrowth growth;
  const model::ProcessId holder = {7, 70};
  growth.add(0, {{"a", {100, holder}}, {"b", {100, {}}}, {"c", {100, {}}}});
  growth.add(kSecondNs, {{"a", {150, holder}}, {"b", {300, {}}}});
  const std::vector<TopGrower> growers = growth.growers(kSecondNs, 5);
  ASSERT_EQ(growers.size(), 2U);
  EXPECT_EQ(growers[0].name, "b");
  EXPECT_EQ(growers[0].bytes, 200);
  EXPECT_EQ(growers[1].holder, holder);
  EXPECT_EQ(growth.growers(kSecondNs, 1).size(), 1U);
}

}  // namespace
}  // namespace tidemark::analysis
