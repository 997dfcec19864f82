// `system` and `kmap`, through their entries in the command table.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

using Words = std::vector<std::string>;

std::string output_of(const char* command, Words words) {
  words.insert(words.end(), {"-q", "--proc", fixture("kernel-6.18/proc")});
  return file_output_of(command, std::move(words));
}

TEST(System, ACopyIsReadOnce) {
  EXPECT_EQ(lines_of(output_of("system", {})).size(), 2U) << "head and line";
}

TEST(System, TakesACountByEitherName) {
  EXPECT_EQ(lines_of(output_of("system", {"-n", "3", "-d", "1ms"})).size(), 4U);
  EXPECT_EQ(
      lines_of(output_of("system", {"--count", "3", "--interval", "1000Hz"}))
          .size(),
      4U);
}

TEST(System, SeveralObjectsAreALineEach) {
  EXPECT_EQ(
      lines_of(output_of("system", {"--json", "-n", "3", "-d", "1ms"})).size(),
      3U);
}

TEST(System, RefusesACountThatIsNone) {
  for (const char* word : {"0", "-1", "many"}) {
    base::Result<ExitCode> result =
        run("system", {"-n", word, "--proc", fixture("kernel-6.18/proc")});
    EXPECT_FALSE(result) << word;
  }
}

TEST(System, NeedsTheTotalsOfMeminfo) {
  base::Result<ExitCode> result =
      run("system", {"--proc", "/nonexistent/proc"});
  EXPECT_FALSE(result);
}

TEST(Kmap, AllHasALineForEachArea) {
  EXPECT_GT(lines_of(output_of("kmap", {"--all"})).size(),
            lines_of(output_of("kmap", {})).size() + 200);
}

TEST(Kmap, JsonLinesIsOneLine) {
  EXPECT_EQ(lines_of(output_of("kmap", {"--format", "jsonl"})).size(), 1U);
}

}  // namespace
}  // namespace tidemark::cli
