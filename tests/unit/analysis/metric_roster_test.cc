#include "analysis/metric_roster.h"

#include <gtest/gtest.h>

#include <set>

#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using test::kSecondNs;

TEST(MetricRoster, TakesTheLargest) {
  MetricRoster roster(2);
  EXPECT_EQ(roster.choose({{"a", 1}, {"b", 30}, {"c", 20}}, 0),
            (std::unordered_set<std::string>{"b", "c"}));
}

TEST(MetricRoster, AboutTheSameSizeTakesNoPlace) {
  MetricRoster roster(1);
  roster.choose({{"a", 100}, {"b", 90}}, 0);
  EXPECT_EQ(roster.choose({{"a", 100}, {"b", 110}}, kSecondNs),
            (std::unordered_set<std::string>{"a"}));
  EXPECT_EQ(roster.choose({{"a", 100}, {"b", 200}}, 2 * kSecondNs),
            (std::unordered_set<std::string>{"b"}));
}

TEST(MetricRoster, WhatIsGoneForAWhileHasItsPlaceWhenItComesBack) {
  MetricRoster roster(1);
  roster.choose({{"a", 100}}, 0);
  EXPECT_TRUE(roster.choose({}, 300 * kSecondNs).empty());
  EXPECT_EQ(roster.choose({{"a", 100}}, 301 * kSecondNs).size(), 1);
}

// Ten thousand programs a minute, each with a name of its own, for an hour.
TEST(MetricRoster, NamesOverTimeAreBoundedWhateverComes) {
  constexpr size_t kLimit = 30;
  MetricRoster roster(kLimit);
  std::set<std::string> ever;
  uint64_t name = 0;
  for (uint64_t second = 0; second <= 3600; second += 15) {
    std::vector<RankedName> names;
    for (int i = 0; i < 2500; ++i) {
      ++name;
      names.push_back({"job" + std::to_string(name), name});
    }
    const auto chosen = roster.choose(std::move(names), second * kSecondNs);
    EXPECT_LE(chosen.size(), kLimit);
    ever.insert(chosen.begin(), chosen.end());
  }
  EXPECT_LE(ever.size(), 3 * kLimit);
  EXPECT_GE(ever.size(), 2 * kLimit) << "and newcomers do get in";
  EXPECT_GT(roster.refused_count(), 0);
}

}  // namespace
}  // namespace tidemark::analysis
