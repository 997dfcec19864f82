#include "base/text_arena.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::base {
namespace {

RC_GTEST_PROP(TextArena, KeepsWhatItWasGivenAlsoWhenMoved, ()) {
  const auto texts = *rc::gen::arbitrary<std::vector<std::string>>();
  TextArena arena;
  std::vector<std::string_view> kept;
  for (const std::string& text : texts)
    kept.push_back(arena.keep(text));
  const TextArena moved = std::move(arena);
  for (size_t i = 0; i < texts.size(); ++i)
    RC_ASSERT(kept[i] == texts[i]);
}

TEST(TextArena, ALargeTextHasABlockOfItsOwn) {
  TextArena arena;
  const std::string_view small = arena.keep("small");
  const std::string large(size_t{1} << 20, 'x');
  EXPECT_EQ(arena.keep(large), large);
  EXPECT_EQ(arena.keep("after it"), "after it");
  EXPECT_EQ(small, "small");
}

}  // namespace
}  // namespace tidemark::base
