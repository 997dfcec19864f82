#include "cli/help.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

void expect_80_columns(const std::string& text) {
  for (const std::string& line : lines_of(text)) {
    EXPECT_LE(line.size(), 80U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

// A command with one option, or none.
Command small_command() {
  Command command;
  command.name = "try";
  command.summary = "an example";
  command.description = "Does nothing.";
  command.examples = {{"tidemark try", "nothing"}};
  return command;
}

TEST(OverviewHelp, NamesEveryCommandWithItsSummary) {
  const std::string help = overview_help();
  for (const CommandEntry& entry : command_table()) {
    EXPECT_NE(help.find("\n  " + std::string(entry.name) + " "),
              std::string::npos)
        << entry.name;
    EXPECT_NE(help.find(entry.summary), std::string::npos) << entry.name;
  }
}

TEST(OverviewHelp, FitsIn80Columns) {
  expect_80_columns(overview_help());
}

TEST(CommandHelp, FitsIn80Columns) {
  for (const CommandEntry& entry : command_table()) {
    expect_80_columns(command_help(entry.make()));
  }
}

TEST(CommandHelp, NamesEveryOptionAndExample) {
  for (const CommandEntry& entry : command_table()) {
    const Command command = entry.make();
    const std::string help = command_help(command);
    for (const std::string& name : option_names(command)) {
      EXPECT_NE(help.find(name), std::string::npos) << entry.name << name;
    }
    for (const Example& example : command.examples) {
      EXPECT_NE(help.find(example.command), std::string::npos)
          << example.command;
    }
  }
}

TEST(CommandHelp, ShortNamesStandBesideTheirText) {
  bool all = false;
  Command command = small_command();
  command.options.flag("-a,--all", "fold nothing", all);
  EXPECT_TRUE(command_help(command).ends_with(
      "options:\n  -a, --all                 fold nothing\n"))
      << command_help(command);
}

TEST(CommandHelp, LongNamesStandAboveTheirText) {
  std::string value;
  Command command = small_command();
  command.options.value("--interval,--period", "DUR|HZ", "time between", value);
  EXPECT_TRUE(command_help(command).ends_with(
      "options:\n"
      "  --interval, --period DUR|HZ\n"
      "                            time between\n"))
      << command_help(command);
}

TEST(CommandHelp, LongTextIsBrokenAtBlanksAndIndented) {
  bool flag = false;
  Command command = small_command();
  command.options.flag(
      "-x", "one two three four five six seven eight nine ten eleven twelve",
      flag);
  // From column 28 on, 52 columns are left: "twelve" does not fit.
  EXPECT_TRUE(command_help(command).ends_with(
      "  -x                        one two three four five six seven eight "
      "nine ten\n"
      "                            eleven twelve\n"))
      << command_help(command);
}

TEST(UsageLine, ShowsWhatIsRequiredAndWhatMayBeRepeated) {
  std::vector<std::string> many;
  Command command = small_command();
  command.options.positional("PID|NAME", "processes", many, true);
  EXPECT_EQ(usage_line(command), "tidemark try [options] PID|NAME...");
}

TEST(UsageLine, BracketsWhatIsOptional) {
  std::string one;
  Command command = small_command();
  command.options.positional("PAGE", "a page", one, false);
  EXPECT_EQ(usage_line(command), "tidemark try [options] [PAGE]");
}

}  // namespace
}  // namespace tidemark::cli
