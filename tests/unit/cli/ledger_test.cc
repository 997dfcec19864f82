// `ledger`, through its entry in the command table.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

using Words = std::vector<std::string>;

base::Result<ExitCode> run_on_copy(Words words) {
  words.insert(words.end(), {"--proc", fixture("kernel-6.18/proc")});
  return run("ledger", words);
}

TEST(LedgerCommand, RefusesWhatDoesNotGoTogether) {
  const Words wrongs[] = {{"--what-if"},
                          {"1234"},
                          {"--what-if", "a name"},
                          {"--what-if", "99999999999"},
                          {"--sample", "100", "--by", "file"},
                          {"--sample", "100", "--what-if", "1"},
                          {"--tier", "counters", "--by", "process"},
                          {"--tier", "counters", "--sample", "100"}};
  for (const Words& words : wrongs) {
    const base::Result<ExitCode> result = run_on_copy(words);
    ASSERT_FALSE(result) << words[0];
    EXPECT_EQ(result.error().kind, base::ErrorKind::Misused)
        << result.error().what;
    EXPECT_FALSE(result.error().hint.empty()) << result.error().what;
  }
}

// A copy has no pages to look at.
TEST(LedgerCommand, FallsBackToTheCountersAndSaysWhy) {
  const std::string json = file_output_of(
      "ledger",
      {"--format", "jsonl", "-q", "--proc", fixture("kernel-6.18/proc")});
  EXPECT_EQ(lines_of(json).size(), 1U);
  EXPECT_NE(json.find(R"("tier":"counters","tier_note":")"), std::string::npos)
      << json.substr(0, 200);
}

TEST(LedgerCommand, DoesNotFallBackWhenPagesAreAskedFor) {
  EXPECT_FALSE(run_on_copy({"--by", "cgroup"}));
  EXPECT_FALSE(run_on_copy({"--sample", "100"}));
}

}  // namespace
}  // namespace tidemark::cli
