#include "base/text_map.h"

#include <gtest/gtest.h>

namespace tidemark::base {
namespace {

TEST(TextMap, IsAskedWithViews) {
  TextMap<int> map;
  map.try_emplace("one", 1);
  const std::string_view text = "one two";
  const auto found = map.find(text.substr(0, 3));
  ASSERT_NE(found, map.end());
  EXPECT_EQ(found->second, 1);
  EXPECT_EQ(map.find(text), map.end());
}

}  // namespace
}  // namespace tidemark::base
