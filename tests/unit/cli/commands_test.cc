#include "cli/commands.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "base/text.h"
#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

TEST(CommandTable, NameAndSummaryAreThoseOfTheCommand) {
  for (const CommandEntry& entry : command_table()) {
    const Command command = entry.make();
    EXPECT_EQ(entry.name, command.name);
    EXPECT_EQ(entry.summary, command.summary) << entry.name;
  }
}

TEST(CommandTable, NoNameOccursTwice) {
  std::set<std::string_view> names;
  for (const CommandEntry& entry : command_table()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  }
}

TEST(CommandTable, EveryCommandHasADescriptionAndAnExample) {
  for (const CommandEntry& entry : command_table()) {
    const Command command = entry.make();
    EXPECT_FALSE(command.description.empty()) << entry.name;
    EXPECT_FALSE(command.examples.empty()) << entry.name;
    EXPECT_TRUE(command.run) << entry.name;
  }
}

TEST(CommandTable, EveryOptionHasAHelpText) {
  for (const CommandEntry& entry : command_table()) {
    const Command command = entry.make();
    for (const Option& option : command.options.all()) {
      EXPECT_FALSE(option.help.empty()) << entry.name << " " << option.names;
    }
  }
}

TEST(CommandTable, EveryCommandHasHelpUnderBothNames) {
  for (const CommandEntry& entry : command_table()) {
    const std::vector<std::string> names = option_names(entry.make());
    EXPECT_TRUE(contains(names, "-h")) << entry.name;
    EXPECT_TRUE(contains(names, "--help")) << entry.name;
  }
}

// However many commands take one, they refuse the same words.
TEST(CommandTable, EveryCountIsOfTheSameKind) {
  size_t found = 0;
  for (const CommandEntry& entry : command_table()) {
    const Command command = entry.make();
    for (const Option& option : command.options.all()) {
      if (option.names != "--top" && option.names != "--count") continue;
      ++found;
      EXPECT_EQ(option.value, "N") << entry.name;
      for (const char* word : {"0", "-1", "many"}) {
        const base::Status status = option.take(word);
        ASSERT_FALSE(status) << entry.name << " " << word;
        EXPECT_EQ(status.error().what,
                  "'" + std::string(word) + "' is not a count");
      }
    }
  }
  EXPECT_GE(found, 6U);
}

TEST(CommandTable, NoCommandHasAnOptionTwice) {
  for (const CommandEntry& entry : command_table()) {
    std::set<std::string> seen;
    for (const std::string& name : option_names(entry.make())) {
      EXPECT_TRUE(seen.insert(name).second) << entry.name << " " << name;
    }
  }
}

// Summaries are parts of a list: lower case, no full stop.
TEST(CommandTable, SummariesAreWrittenAlike) {
  for (const CommandEntry& entry : command_table()) {
    EXPECT_TRUE(std::islower(static_cast<unsigned char>(entry.summary[0])))
        << entry.summary;
    EXPECT_FALSE(entry.summary.ends_with('.')) << entry.summary;
  }
}

TEST(CommandTable, ExamplesUseOptionsThatExist) {
  for (const CommandEntry& entry : command_table()) {
    const Command command = entry.make();
    for (const Example& example : command.examples) {
      std::string_view rest = example.command;
      std::vector<std::string> words;
      for (std::string_view word = base::take_word(rest);
           !word.empty() && word != "|"; word = base::take_word(rest)) {
        words.emplace_back(word);
      }
      if (words[0] != "tidemark") continue;  // "sudo tidemark …", "source <("
      EXPECT_EQ(words.at(1), entry.name);
      words.erase(words.begin(), words.begin() + 2);
      base::Status status = parse_options(entry.make().options, words);
      EXPECT_TRUE(status) << example.command << ": " << status.error().what;
    }
  }
}

// The flags of the contracts, so that no command spells one differently.
TEST(CommandTable, ReportsHaveTheCommonOptions) {
  for (const char* name : {"ps", "get", "maps", "doctor"}) {
    const std::vector<std::string> names = option_names(command_named(name));
    for (const char* option : {"--format", "--json", "--color", "-o",
                               "--output", "--proc", "-q", "--quiet"}) {
      EXPECT_TRUE(contains(names, option)) << name << " " << option;
    }
  }
}

}  // namespace
}  // namespace tidemark::cli
