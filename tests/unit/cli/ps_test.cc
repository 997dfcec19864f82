// `ps`, through its entry in the command table.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/cli/harness.h"
#include "unit/view/json/unknowns.h"

namespace tidemark::cli {
namespace {

using Words = std::vector<std::string>;

std::string ps(Words words) {
  words.insert(words.end(), {"--proc", fixture("hostile/proc")});
  return file_output_of("ps", std::move(words));
}

const Option* option_named(const Command& command, const std::string& names) {
  for (const Option& option : command.options.all()) {
    if (option.names == names) return &option;
  }
  return nullptr;
}

TEST(Ps, GroupsByTheWordsOfTheContract) {
  const Command command = command_named("ps");
  const Option* by = option_named(command, "--by");
  ASSERT_NE(by, nullptr);
  EXPECT_EQ(by->choices,
            (Words{"cgroup", "parent", "user", "exe", "session", "container"}));
}

TEST(Ps, SortsByEveryColumn) {
  const Command command = command_named("ps");
  const Option* sort = option_named(command, "--sort");
  ASSERT_NE(sort, nullptr);
  for (const std::string& word : sort->choices) {
    EXPECT_TRUE(ps({"--sort", word}).starts_with("TASK ")) << word;
  }
}

TEST(Ps, GroupsByCgroupAndSortsByPssUnlessAsked) {
  EXPECT_EQ(ps({}), ps({"--by", "cgroup", "--sort", "pss"}));
}

TEST(Ps, TakesNoPositional) {
  base::Result<ExitCode> result = run("ps", {"1234"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(),
            base::fail(base::ErrorKind::Misused, "unexpected argument '1234'"));
}

TEST(Ps, TopIsACountFromOneOn) {
  for (const char* word : {"0", "-1", "many"}) {
    base::Result<ExitCode> result = run("ps", {std::string("--top=") + word});
    ASSERT_FALSE(result) << word;
    EXPECT_EQ(result.error().kind, base::ErrorKind::Misused) << word;
  }
}

TEST(Ps, OnlyTextFolds) {
  EXPECT_NE(ps({}).find(" smaller\n"), std::string::npos);
  EXPECT_EQ(ps({"--csv"}).find(" smaller\n"), std::string::npos);
}

TEST(Ps, EveryNullInJsonHasItsReason) {
  const Words none_allowed = {"parent_id", "group_id", "limit_bytes"};
  EXPECT_EQ(view::broken_unknowns(ps({"--json", "--fds"}), none_allowed), "");
  EXPECT_EQ(view::broken_unknowns(ps({"--json", "--filter", "neither"}),
                                  none_allowed),
            "");
}

TEST(Ps, AllFoldsNothing) {
  EXPECT_EQ(ps({"-a"}).find(" smaller\n"), std::string::npos);
}

TEST(Ps, ShortAndLongNamesAreTheSame) {
  EXPECT_EQ(ps({"-J"}), ps({"--jobs"}));
  EXPECT_EQ(ps({"-T"}), ps({"--threads"}));
  EXPECT_EQ(ps({"-a"}), ps({"--all"}));
}

TEST(Ps, WithoutMeminfoProcessesAreStillShown) {
  const TempFolder folder;
  std::filesystem::copy(fixture("debian-6.12/proc"), folder.file("proc"),
                        std::filesystem::copy_options::recursive);
  std::filesystem::remove(folder.file("proc/meminfo"));
  const std::string text =
      file_output_of("ps", {"--proc", folder.file("proc")});
  EXPECT_NE(text.find("memhog"), std::string::npos) << text;
  EXPECT_EQ(text.find("in use"), std::string::npos) << text;
}

}  // namespace
}  // namespace tidemark::cli
