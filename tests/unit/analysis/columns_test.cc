#include "analysis/columns.h"

#include <gtest/gtest.h>

namespace tidemark::analysis {
namespace {

TEST(HighestInColumns, KeepsTheHighestOfEachStretch) {
  const std::vector<uint64_t> heights =
      highest_in_columns({{0, 3}, {10, 9}, {20, 4}, {100, 5}}, 100, 4);
  EXPECT_EQ(heights, (std::vector<uint64_t>{9, 9, 9, 5}))
      << "a stretch without a point repeats the one before";
}

TEST(HighestInColumns, HasNothingOfNoTime) {
  EXPECT_EQ(highest_in_columns({{0, 3}}, 0, 2), (std::vector<uint64_t>{0, 0}));
  EXPECT_TRUE(highest_in_columns({{0, 3}}, 10, 0).empty());
}

}  // namespace
}  // namespace tidemark::analysis
