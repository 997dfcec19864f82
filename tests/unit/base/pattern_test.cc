#include "base/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::base {
namespace {

Pattern pattern(std::string_view text) {
  Result<Pattern> compiled = Pattern::compile(text);
  EXPECT_TRUE(compiled) << text << ": " << compiled.error().what;
  return compiled ? *compiled : Pattern();
}

std::string refusal(std::string_view text) {
  Result<Pattern> compiled = Pattern::compile(text);
  EXPECT_FALSE(compiled) << text;
  return compiled ? "" : compiled.error().what;
}

TEST(Pattern, MatchesTheWholeName) {
  EXPECT_TRUE(pattern("post(gres|master)").matches("postgres"));
  EXPECT_FALSE(pattern("post(gres|master)").matches("postgres: checkpointer"));
  EXPECT_TRUE(pattern("post.*").matches("postgres: checkpointer"));
}

TEST(Pattern, WithoutTextMatchesEverything) {
  EXPECT_TRUE(pattern("").matches_all());
  EXPECT_TRUE(pattern("").matches("anything\n at all"));
  EXPECT_TRUE(pattern("").matches(""));
}

TEST(Pattern, SaysWhatIsWrongWithIt) {
  EXPECT_NE(refusal("a(b").find("parentheses"), std::string::npos);
  EXPECT_NE(refusal("a[b").find("'['"), std::string::npos);
  EXPECT_NE(refusal("*a").find("repeat"), std::string::npos);
  EXPECT_NE(refusal("[z-a]").find("range"), std::string::npos);
  EXPECT_NE(refusal(std::string(1001, 'a')).find("1000"), std::string::npos);
  for (const char* large : {"((a{99}){99}){99}", "a{99}{99}", "(ab?){5000}",
                            "a{99999999999999999999}"}) {
    EXPECT_NE(refusal(large).find("written out"), std::string::npos) << large;
  }
}

TEST(Pattern, TakesTheRepeatsPeopleWrite) {
  EXPECT_TRUE(pattern("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
                  .matches("3f2a1b4c-0001-0002-0003-0123456789ab"));
  EXPECT_TRUE(pattern("docker-[0-9a-f]{64}\\.scope")
                  .matches("docker-" + std::string(64, 'e') + ".scope"));
}

// The matcher must not run out of stack on what was let in.
TEST(Pattern, TakesTheLargestThatIsLetIn) {
  EXPECT_TRUE(pattern("(a?){1300}").matches(std::string(400, 'a')));
}

TEST(Pattern, RefusesBackReferences) {
  EXPECT_NE(refusal("(a*)\\1").find("back-reference"), std::string::npos);
  EXPECT_NE(refusal("\\" + std::string(40, '4')).find("back-reference"),
            std::string::npos);
  EXPECT_TRUE(pattern("a\\\\1").matches("a\\1")) << "a backslash, and a one";
}

// With backtracking each of these would run for longer than anybody waits.
TEST(Pattern, HasABoundInTime) {
  const std::string name(400, 'a');
  EXPECT_FALSE(pattern("(a+)+b").matches(name));
  EXPECT_FALSE(pattern("(a|a)*b").matches(name));
  EXPECT_FALSE(pattern("(.*.*.*.*.*)x").matches(name));
}

TEST(Pattern, LooksAtTheHeadOfAVeryLongName) {
  const std::string name = std::string(Pattern::kMostNameBytes, 'a');
  EXPECT_TRUE(pattern("a*").matches(name + std::string(1 << 20, 'b')));
}

TEST(Pattern, TakesBytesThatAreNoText) {
  EXPECT_TRUE(pattern("a.*z").matches("a\xff\xfez"));
}

}  // namespace
}  // namespace tidemark::base
