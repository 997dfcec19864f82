// `maps`, through its entry in the command table.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

using Words = std::vector<std::string>;

std::string maps(Words words) {
  words.insert(words.end(), {"--proc", fixture("debian-6.12/proc"), "151"});
  return file_output_of("maps", std::move(words));
}

TEST(Maps, SortsByAddressUnlessAsked) {
  EXPECT_EQ(maps({}), maps({"--sort", "address"}));
}

TEST(Maps, EverySortKeepsEveryLine) {
  const size_t lines = lines_of(maps({})).size();
  for (const char* word : {"size", "rss", "pss", "private", "swap"}) {
    EXPECT_EQ(lines_of(maps({"--sort", word})).size(), lines) << word;
  }
}

TEST(Maps, JsonLinesIsOneLine) {
  EXPECT_EQ(lines_of(maps({"--format", "jsonl"})).size(), 1U);
}

TEST(Maps, TakesOneProcess) {
  base::Result<ExitCode> result = run("maps", {"1", "2"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(),
            base::fail(base::ErrorKind::Misused, "unexpected argument '2'"));
}

TEST(Maps, WithoutAProcessIsMisuse) {
  base::Result<ExitCode> result =
      run("maps", {"--proc", fixture("debian-6.12/proc")});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "no process was named");
}

TEST(Maps, AnUnwritableFileFailsBeforeTheWork) {
  base::Result<ExitCode> result = run(
      "maps",
      {"--proc", fixture("debian-6.12/proc"), "-o", "/nonexistent/out", "151"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what,
            "cannot write /nonexistent/out: No such file or directory");
}

}  // namespace
}  // namespace tidemark::cli
