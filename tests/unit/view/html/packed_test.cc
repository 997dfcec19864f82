#include "view/html/packed.h"

#include <gtest/gtest.h>

namespace tidemark::view {
namespace {

std::string differences(std::string_view json) {
  base::Result<std::string> text = with_differences(json);
  EXPECT_TRUE(text) << text.error().what;
  return text ? *text : "";
}

TEST(Packed, WritesNumbersAsDifferencesOfTheirUnit) {
  EXPECT_EQ(differences(R"({"a":[4096,8192,4096,0]})"),
            R"({"a":[true,4096,1,1,-1,-1]})");
  EXPECT_EQ(differences("[0, 0, 0, 0]"), "[true,1,0,0,0,0]");
  EXPECT_EQ(differences("[-3,\n 3, 3, 3]"), "[true,3,-1,2,0,0]");
}

TEST(Packed, LeavesEverythingElseAsItIs) {
  for (std::string_view json :
       {R"({"a":"[1,2,3,4]","b":"\"[1,2,3,4]"})", "[1,2,3]", "[1,2,null,4,5]",
        "[1.5,2,3,4]", "[]", R"([{"a":1},["x",{}]])",
        "[9007199254740993,1,1,1]", "[18446744073709551615,1,1,1]", "[1,2,3,4",
        R"("an open string \)"}) {
    EXPECT_EQ(differences(json), json);
  }
}

TEST(Packed, RefusesWhatItsReaderWouldMistake) {
  EXPECT_FALSE(with_differences("[true,1,2]"));
}

TEST(Packed, HasOnlyLettersThatCannotEndAnElement) {
  const base::Result<std::string> text = packed(R"({"name":"</script>"})");
  ASSERT_TRUE(text) << text.error().what;
  EXPECT_EQ(text->find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "abcdefghijklmnopqrstuvwxyz0123456789+/="),
            std::string::npos);
}

}  // namespace
}  // namespace tidemark::view
