#include "cli/run.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

base::Error failure(const std::vector<std::string>& arguments) {
  const base::Result<ExitCode> result = run("run", arguments);
  EXPECT_FALSE(result) << "it ran";
  return result ? base::fail(ErrorKind::System, "it ran") : result.error();
}

TEST(RunCommand, NeedsACommand) {
  EXPECT_EQ(failure({}), base::fail(ErrorKind::Misused, "no command to run",
                                    "tidemark run -- COMMAND [ARGUMENT...]"));
}

TEST(RunCommand, AReportThatCannotBeWrittenFailsBeforeTheCommandRuns) {
  const TempFolder folder;
  const std::string trace = folder.file("trace");
  EXPECT_EQ(failure({"-o", folder.file("none/report"), "touch", trace}).what,
            "cannot write " + folder.file("none/report") +
                ": No such file or directory");
  EXPECT_FALSE(std::filesystem::exists(trace));
}

TEST(RunCommand, RefusesALimitThatIsNoSize) {
  EXPECT_EQ(failure({"--limit", "much", "true"}).what, "'much' is not a size");
}

TEST(RunCommand, RefusesATableOfNoRows) {
  for (const char* word : {"0", "-1", "many"}) {
    EXPECT_EQ(failure({std::string("--top=") + word, "true"}).what,
              "'" + std::string(word) + "' is not a count");
  }
}

TEST(RunCommand, RefusesAMeansItDoesNotHave) {
  EXPECT_EQ(failure({"--via", "magic", "true"}),
            base::fail(ErrorKind::Misused, "'magic' is not a value of --via",
                       "one of auto, cgroup+bpf, cgroup, bpf, sampling"));
}

TEST(RunCommand, HasTheCommonOptions) {
  const std::vector<std::string> names = option_names(command_named("run"));
  for (const char* option :
       {"--format", "--json", "--units", "--wide", "--color", "-o", "--output",
        "-q", "--quiet", "--top", "--limit", "--freeze", "--exact-peak"}) {
    EXPECT_TRUE(contains(names, option)) << option;
  }
}

TEST(RunCommand, AloneEndsWithTheStatusOfAnotherProgram) {
  for (const CommandEntry& entry : command_table()) {
    EXPECT_EQ(entry.wraps_a_command, entry.name == "run") << entry.name;
  }
}

}  // namespace
}  // namespace tidemark::cli
