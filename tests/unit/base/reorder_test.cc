#include "base/reorder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace tidemark::base {
namespace {

TEST(PutInOrder, MovesEachToItsPlace) {
  std::vector<std::string> words = {"c", "a", "d", "b"};
  put_in_order(words, {1, 3, 0, 2});
  EXPECT_EQ(words, (std::vector<std::string>{"a", "b", "c", "d"}));
  std::vector<std::string> none;
  put_in_order(none, {});
  EXPECT_TRUE(none.empty());
}

RC_GTEST_PROP(SortInPlace, SortsAsSortDoes, (std::vector<std::string> words)) {
  std::vector<std::string> expected = words;
  std::sort(expected.begin(), expected.end(), std::greater<>());
  sort_in_place(words, std::greater<>());
  RC_ASSERT(words == expected);
}

}  // namespace
}  // namespace tidemark::base
