// `completion`, through its entry in the command table.
#include <gtest/gtest.h>

#include <string>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

// How a script of that shell writes the name of an option.
std::string in_shell(const std::string& shell, const std::string& name) {
  if (shell != "fish") return name;
  return name.starts_with("--") ? "-l " + name.substr(2)
                                : "-s " + name.substr(1);
}

// The part of a script that is about one command.
std::string part_of(const std::string& shell, const std::string& script,
                    const std::string& command) {
  const std::string condition = "__fish_seen_subcommand_from " + command + "'";
  std::string part;
  bool is_inside = false;
  for (const std::string& line : lines_of(script)) {
    // A branch of the case statement ends where the next begins.
    if (line == "    " + command + ")") {
      is_inside = true;
    } else if (!line.starts_with("     ")) {
      is_inside = false;
    }
    const bool is_about_it =
        shell == "fish" ? line.find(condition) != std::string::npos : is_inside;
    if (is_about_it) part += line + "\n";
  }
  return part;
}

class CompletionOf : public testing::TestWithParam<const char*> {
 protected:
  std::string shell() const { return GetParam(); }
  std::string script() const { return output_of("completion", {shell()}); }
};

TEST_P(CompletionOf, OffersEveryCommand) {
  const std::string text = script();
  for (const CommandEntry& entry : command_table()) {
    EXPECT_NE(text.find(entry.name), std::string::npos) << entry.name;
  }
}

TEST_P(CompletionOf, OffersEveryOptionOfACommandBehindIt) {
  const std::string text = script();
  for (const CommandEntry& entry : command_table()) {
    const std::string part =
        part_of(shell(), text, std::string(entry.name)) + " ";
    for (const std::string& name : option_names(entry.make())) {
      EXPECT_NE(part.find(in_shell(shell(), name)), std::string::npos)
          << entry.name << " " << name;
    }
  }
}

TEST_P(CompletionOf, OffersTheChoicesOfAnOption) {
  EXPECT_NE(part_of(shell(), script(), "ps")
                .find("cgroup parent user exe session container"),
            std::string::npos);
}

// Whether a single-quoted word is open at the end; outside of one, a backslash
// takes the next character as it is.
bool has_open_quote(const std::string& line) {
  bool is_open = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\'') is_open = !is_open;
    if (line[i] == '\\' && !is_open) ++i;
  }
  return is_open;
}

// A quote in a help text would end the word it stands in.
TEST_P(CompletionOf, QuotesAreClosedOnEveryLine) {
  for (const std::string& line : lines_of(script())) {
    EXPECT_FALSE(has_open_quote(line)) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Shells, CompletionOf,
                         testing::Values("bash", "zsh", "fish"),
                         [](const testing::TestParamInfo<const char*>& shell) {
                           return std::string(shell.param);
                         });

TEST(Completion, WithoutAShellIsMisuse) {
  base::Result<ExitCode> result = run("completion", {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(),
            base::fail(base::ErrorKind::Misused, "no shell was named",
                       "one of bash, zsh, fish"));
}

}  // namespace
}  // namespace tidemark::cli
