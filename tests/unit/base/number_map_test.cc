#include "base/number_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace tidemark::base {
namespace {

TEST(NumberMap, FindsWhatWasPutIn) {
  NumberMap<int> map;
  EXPECT_EQ(map.find(7), nullptr);
  map[7] = 70;
  map[-7] = 71;
  map[0] = 72;
  ASSERT_NE(map.find(7), nullptr);
  EXPECT_EQ(*map.find(7), 70);
  EXPECT_EQ(*map.find(-7), 71);
  EXPECT_EQ(*map.find(0), 72);
  EXPECT_EQ(map.find(8), nullptr);
  EXPECT_EQ(map.size(), 3U);
}

TEST(NumberMap, IsEmptyAfterClearAndUsableAgain) {
  NumberMap<int> map;
  map[1] = 1;
  map.clear();
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.find(1), nullptr);
  map[1] = 2;
  EXPECT_EQ(*map.find(1), 2);
}

// Few keys and many removals: every way in which one can stand in the way of
// another.
TEST(NumberMap, AgreesWithAMapOfTheLibrary) {
  std::mt19937 random(1);
  for (const int64_t stride :
       {int64_t{1}, int64_t{1} << 32, int64_t{1} << 57}) {
    NumberMap<uint32_t> map;
    std::map<int64_t, uint32_t> expected;
    for (uint32_t i = 0; i < 20'000; ++i) {
      const int64_t key = static_cast<int64_t>(random() % 40) * stride;
      if (random() % 2 == 0) {
        map.erase(key);
        expected.erase(key);
      } else {
        map[key] = i;
        expected[key] = i;
      }
      const int64_t asked = static_cast<int64_t>(random() % 40) * stride;
      const uint32_t* found = map.find(asked);
      ASSERT_EQ(found != nullptr, expected.contains(asked));
      if (found != nullptr) {
        ASSERT_EQ(*found, expected[asked]);
      }
    }
    std::map<int64_t, uint32_t> all;
    map.for_each([&](int64_t key, uint32_t value) { all[key] = value; });
    EXPECT_EQ(all, expected);
    EXPECT_EQ(map.size(), expected.size());
  }
}

}  // namespace
}  // namespace tidemark::base
