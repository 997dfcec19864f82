#include "cli/memstat.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

using Words = std::vector<std::string>;

// Standard output of memstat on the tree of a fixture: 3 has 936960 bytes, its
// children 5 and 6 have 919552 and 722944, together 2579456.
std::string memstat(const Words& words) {
  const Variable procfs("PROCFS", fixture("host-6.18/proc").c_str());
  return written_to(STDOUT_FILENO, [&] {
    base::Result<ExitCode> result = run_memstat(words);
    EXPECT_TRUE(result) << result.error().what;
  });
}

base::Error failure(const Words& words) {
  base::Result<ExitCode> result = run_memstat(words);
  EXPECT_FALSE(result);
  return result ? base::Error{} : result.error();
}

TEST(Memstat, FlagsMayStandOnEitherSide) {
  const std::string expected =
      "[3] 915 kB (zoo)\n"
      "  [5] 898 kB (zoo) (worker)\n"
      "  [6] 706 kB (zoo writer)\n"
      "Total: 2519 kB\n";
  EXPECT_EQ(memstat({"-rv", "get", "3"}), expected);
  EXPECT_EQ(memstat({"get", "3", "-rv"}), expected);
  EXPECT_EQ(memstat({"get", "-r", "3", "-v"}), expected);
}

TEST(Memstat, TheValueOfAFlagIsNotTheSubCommand) {
  EXPECT_EQ(memstat({"-f", "10", "get", "3"}), "Total: 915 kB\n");
  EXPECT_EQ(memstat({"--frequency", "10", "get", "3"}), "Total: 915 kB\n");
  EXPECT_EQ(memstat({"--frequency=10", "get", "3"}), "Total: 915 kB\n");
}

TEST(Memstat, TheValueOfABundledFlagIsNotTheSubCommand) {
  EXPECT_EQ(memstat({"-rf", "10", "get", "3"}), "Total: 2519 kB\n");
}

TEST(Memstat, AProcessMayBeCalledGet) {
  // The first "get" is the sub-command, the second a name nobody has.
  const Variable procfs("PROCFS", fixture("host-6.18/proc").c_str());
  EXPECT_EQ(failure({"get", "get"}).what, "no process is called 'get'");
}

TEST(Memstat, AnotherSubCommandIsMisuse) {
  EXPECT_EQ(failure({"put", "3"}).kind, base::ErrorKind::Misused);
}

TEST(Memstat, WithoutASubCommandPrintsTheHelpAndIsMisuse) {
  std::string code;
  const std::string help = written_to(STDERR_FILENO, [&] {
    base::Result<ExitCode> result = run_memstat({});
    code = result && *result == ExitCode::Misused ? "misused" : "other";
  });
  EXPECT_EQ(code, "misused");
  EXPECT_TRUE(help.starts_with("memstat: ")) << help;
}

TEST(Memstat, HelpFitsIn80Columns) {
  const std::string help =
      written_to(STDERR_FILENO, [] { EXPECT_TRUE(run_memstat({"--help"})); });
  for (const std::string& line : lines_of(help)) {
    EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST(Memstat, AnUnknownOptionIsMisuse) {
  EXPECT_EQ(failure({"get", "3", "--json"}).kind, base::ErrorKind::Misused);
}

}  // namespace
}  // namespace tidemark::cli
