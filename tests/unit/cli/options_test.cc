#include "cli/options.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <CLI/Error.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::cli {
namespace {

using base::ErrorKind;

// A table with one option of each sort, and where their values went.
struct Example {
  bool recursive = false;
  bool verbose = false;
  std::string output;
  std::string sort = "pss";
  std::vector<std::string> taken;  // values of --count, in order
  std::vector<std::string> targets;
  OptionTable table;

  Example() {
    table.positional("PID", "the processes", targets, true);
    table.flag("-r,--recursive", "descendants too", recursive);
    table.flag("-v,--verbose", "more", verbose);
    table.value("-o,--output", "FILE", "where to", output);
    table.choice("--sort", {"pss", "swap"}, "order",
                 [this](const std::string& word) -> base::Status {
                   sort = word;
                   return base::Ok{};
                 });
    table.value("--count", "N", "how often",
                [this](const std::string& word) -> base::Status {
                  taken.push_back(word);
                  if (word == "none") {
                    return base::fail(ErrorKind::Misused, "'none' is no count",
                                      "a number");
                  }
                  return base::Ok{};
                });
  }
  Example(const Example&) = delete;
  Example& operator=(const Example&) = delete;

  base::Status parse(const std::vector<std::string>& arguments) const {
    return parse_options(table, arguments);
  }
};

std::string refusal_of(const std::vector<std::string>& arguments) {
  const Example example;
  base::Status status = example.parse(arguments);
  if (status) return "no refusal_of";
  EXPECT_EQ(status.error().kind, ErrorKind::Misused);
  return status.error().what;
}

using Words = std::vector<std::string>;

// ---- what is accepted -------------------------------------------------------

TEST(ParseOptions, NothingGivenLeavesTheDefaults) {
  const Example example;
  ASSERT_TRUE(example.parse({}));
  EXPECT_FALSE(example.recursive);
  EXPECT_EQ(example.sort, "pss");
  EXPECT_TRUE(example.targets.empty());
}

TEST(ParseOptions, AFlagIsRaisedByAnyOfItsNames) {
  for (const char* name : {"-r", "--recursive"}) {
    const Example example;
    ASSERT_TRUE(example.parse({name}));
    EXPECT_TRUE(example.recursive) << name;
  }
}

TEST(ParseOptions, ShortFlagsMayBeBundled) {
  const Example example;
  ASSERT_TRUE(example.parse({"-rv"}));
  EXPECT_TRUE(example.recursive && example.verbose);
}

TEST(ParseOptions, AFlagMayBeRepeated) {
  const Example example;
  ASSERT_TRUE(example.parse({"-v", "-v"}));
  EXPECT_TRUE(example.verbose);
}

TEST(ParseOptions, AValueMayBeWrittenInFourWays) {
  for (const Words& words : {Words{"--output", "x"}, Words{"--output=x"},
                             Words{"-o", "x"}, Words{"-ox"}}) {
    const Example example;
    ASSERT_TRUE(example.parse(words));
    EXPECT_EQ(example.output, "x") << words[0];
  }
}

TEST(ParseOptions, AValueMayHoldAnEqualsSign) {
  const Example example;
  ASSERT_TRUE(example.parse({"--output=a=b"}));
  EXPECT_EQ(example.output, "a=b");
}

TEST(ParseOptions, AValueMayBeADash) {
  const Example example;
  ASSERT_TRUE(example.parse({"-o", "-"}));
  EXPECT_EQ(example.output, "-");
}

TEST(ParseOptions, TheLastOfRepeatedValuesWins) {
  const Example example;
  ASSERT_TRUE(example.parse({"-o", "first", "--output=last"}));
  EXPECT_EQ(example.output, "last");
}

TEST(ParseOptions, OneOfTheChoicesIsTaken) {
  const Example example;
  ASSERT_TRUE(example.parse({"--sort", "swap"}));
  EXPECT_EQ(example.sort, "swap");
}

TEST(ParseOptions, PositionalsMayStandBetweenOptions) {
  const Example example;
  ASSERT_TRUE(example.parse({"1", "-v", "2", "--sort", "swap", "3"}));
  EXPECT_EQ(example.targets, (Words{"1", "2", "3"}));
}

TEST(ParseOptions, AfterTwoDashesNothingIsAnOption) {
  const Example example;
  ASSERT_TRUE(example.parse({"--", "-v"}));
  EXPECT_FALSE(example.verbose);
  EXPECT_EQ(example.targets, Words{"-v"});
}

TEST(ParseOptions, TwoDashesAloneMeanNothing) {
  const Example example;
  ASSERT_TRUE(example.parse({"-v", "--"}));
  EXPECT_TRUE(example.targets.empty());
}

TEST(ParseOptions, AMissingPositionalIsLeftToTheCommand) {
  EXPECT_TRUE(Example().parse({"-v"}));
}

// Aliases of one setting, as --json and --format are, must act in the order
// they were typed.
TEST(ParseOptions, OptionsActInTheOrderTheyWereTyped) {
  std::string order;
  OptionTable table;
  table.flag("-a", "first in the table", [&] { order += "a"; });
  table.flag("-b", "second in the table", [&] { order += "b"; });
  ASSERT_TRUE(parse_options(table, {"-b", "-a"}));
  EXPECT_EQ(order, "ba");
}

// Names of processes: brackets, commas, quotes, and words CLI11 knows.
rc::Gen<std::string> odd_word() {
  return rc::gen::oneOf(
      rc::gen::container<std::string>(rc::gen::element(
          '[', ']', ',', '-', '=', '"', '\'', '{', '}', '/', 'a', ' ', '+')),
      rc::gen::element<std::string>("[kthreadd]", "[a,b]", "--verbose", "-5",
                                    "++", "true", "%%", "a=b"));
}

RC_GTEST_PROP(ParseOptionsProperty, PositionalsArriveAsTheyWereTyped, ()) {
  std::vector<std::string> words =
      *rc::gen::container<std::vector<std::string>>(odd_word());
  std::erase(words, "--");
  std::vector<std::string> arguments = {"--"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const Example example;
  RC_ASSERT(example.parse(arguments));
  RC_ASSERT(example.targets == words);
}

RC_GTEST_PROP(ParseOptionsProperty, AValueArrivesAsItWasTyped, ()) {
  const std::string word = *rc::gen::suchThat(
      odd_word(), [](const std::string& w) { return !w.starts_with('-'); });
  const Example example;
  RC_ASSERT(example.parse({"--output", word}));
  RC_ASSERT(example.output == word);
}

// ---- what is refused --------------------------------------------------------

TEST(ParseOptions, AnUnknownOptionNamesTheNearest) {
  EXPECT_EQ(refusal_of({"--sotr", "pss"}),
            "unknown option '--sotr'; did you mean '--sort'?");
}

TEST(ParseOptions, AnUnknownOptionIsNamedWithoutItsValue) {
  EXPECT_EQ(refusal_of({"--sotr=pss"}),
            "unknown option '--sotr'; did you mean '--sort'?");
}

TEST(ParseOptions, AnUnfinishedOptionIsRecognised) {
  EXPECT_EQ(refusal_of({"--verb"}),
            "unknown option '--verb'; did you mean '--verbose'?");
}

TEST(ParseOptions, AnOptionLikeNoOtherHasNoSuggestion) {
  EXPECT_EQ(refusal_of({"--zzzzzz"}), "unknown option '--zzzzzz'");
}

TEST(ParseOptions, AnUnknownOptionCannotControlTheTerminal) {
  EXPECT_EQ(refusal_of({"--\x1b[2J"}), "unknown option '--\\x1b[2J'");
}

TEST(ParseOptions, AWordWithoutAPlaceIsUnexpected) {
  OptionTable table;
  std::string one;
  table.positional("PAGE", "a page", one, false);
  base::Status status = parse_options(table, {"ps", "get"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().what, "unexpected argument 'get'");
}

TEST(ParseOptions, ABadChoiceIsAnsweredWithTheChoices) {
  base::Status status = Example().parse({"--sort", "rss"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(),
            base::fail(ErrorKind::Misused, "'rss' is not a value of --sort",
                       "one of pss, swap"));
}

TEST(ParseOptions, WhatTheOptionSaysAboutItsValueIsReturned) {
  base::Status status = Example().parse({"--count", "none"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(),
            base::fail(ErrorKind::Misused, "'none' is no count", "a number"));
}

// A count that was not given, or was refused, leaves what was there.
uint64_t counted(const std::vector<std::string>& arguments) {
  uint64_t rows = 7;
  OptionTable table;
  table.count("--top", "rows", [&rows](uint64_t count) { rows = count; });
  const base::Status status = parse_options(table, arguments);
  EXPECT_TRUE(status) << status.error().what;
  return rows;
}

TEST(ParseOptions, ACountIsAWholeNumberFromOneOn) {
  EXPECT_EQ(counted({}), 7U);
  EXPECT_EQ(counted({"--top", "1"}), 1U);
  EXPECT_EQ(counted({"--top=1000000000000"}), 1'000'000'000'000U);
  EXPECT_EQ(counted({"--top", "3", "--top", "5"}), 5U) << "the last counts";
}

TEST(ParseOptions, WhatIsNoCountIsRefusedAndNotTaken) {
  for (const char* word : {"0", "-1", "+1", "1.5", "5k", " 5", "many", "all",
                           "0x10", "18446744073709551616"}) {
    bool is_taken = false;
    OptionTable table;
    table.count("--top", "rows", [&](uint64_t) { is_taken = true; });
    const base::Status status =
        parse_options(table, {std::string("--top=") + word});
    ASSERT_FALSE(status) << word;
    EXPECT_EQ(status.error(),
              base::fail(ErrorKind::Misused,
                         "'" + std::string(word) + "' is not a count",
                         "a whole number from 1 on"));
    EXPECT_FALSE(is_taken) << word;
  }
}

// Twice as many rows must still be a number.
TEST(ParseOptions, ACountThatNothingHasIsRefused) {
  for (const char* word :
       {"1000000000001", "9223372036854775808", "18446744073709551615"}) {
    OptionTable table;
    table.count("--top", "rows", [](uint64_t) { ADD_FAILURE(); });
    const base::Status status = parse_options(table, {"--top", word});
    ASSERT_FALSE(status) << word;
    EXPECT_EQ(status.error(),
              base::fail(ErrorKind::Misused,
                         "'" + std::string(word) +
                             "' is more than there can be of anything",
                         "at most 1,000,000,000,000"));
  }
}

TEST(ParseOptions, WhatIsNoCountCannotActOnTheTerminal) {
  OptionTable table;
  table.count("--top", "rows", [](uint64_t) {});
  const base::Status status = parse_options(table, {"--top=\x1b[2J\n"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().what.find_first_of("\x1b\n"), std::string::npos);
}

TEST(ParseOptions, AMissingValueIsThrownWithTheNameOfTheOption) {
  const Example example;
  try {
    const base::Status status = example.parse({"--count"});
    FAIL() << "accepted: " << static_cast<bool>(status);
  } catch (const CLI::ParseError& error) {
    EXPECT_NE(std::string(error.what()).find("--count"), std::string::npos)
        << error.what();
  }
}

TEST(ParseOptions, AFlagTakesNoValue) {
  EXPECT_EQ(refusal_of({"--verbose=false"}), "--verbose takes no value");
}

// ---- a command to run -------------------------------------------------------

// As `run` has it: options of ours, then somebody else's words.
struct Wrapper {
  bool quiet = false;
  bool help = false;
  std::string output;
  std::vector<std::string> words;
  OptionTable table;

  Wrapper() {
    table.command("COMMAND", "what to run", words);
    table.flag("-q,--quiet", "less", quiet);
    table.flag("-h,--help", "this text", help);
    table.value("-o,--output", "FILE", "where to", output);
  }
  Wrapper(const Wrapper&) = delete;
  Wrapper& operator=(const Wrapper&) = delete;
};

TEST(OptionsOfACommand, EndAtTheFirstWordThatIsNone) {
  const Wrapper run;
  ASSERT_TRUE(parse_options(run.table, {"ls", "-la", "-q"}));
  EXPECT_EQ(run.words, (Words{"ls", "-la", "-q"}));
  EXPECT_FALSE(run.quiet) << "that is an option of ls";
}

TEST(OptionsOfACommand, AValueIsNotTheCommand) {
  for (const Words& before :
       {Words{"-o", "f"}, Words{"-of"}, Words{"--output", "f"},
        Words{"--output=f"}, Words{"-qo", "f"}, Words{"-qof"}}) {
    Words arguments = before;
    arguments.insert(arguments.end(), {"ls", "--help"});
    const Wrapper run;
    ASSERT_TRUE(parse_options(run.table, arguments)) << before[0];
    EXPECT_EQ(run.output, "f") << before[0];
    EXPECT_EQ(run.words, (Words{"ls", "--help"})) << before[0];
    EXPECT_FALSE(run.help) << "that of ls is meant";
    EXPECT_EQ(run.quiet, before[0].starts_with("-q")) << before[0];
  }
}

TEST(OptionsOfACommand, AValueMayLookLikeACommandOrADash) {
  const Wrapper run;
  ASSERT_TRUE(parse_options(run.table, {"-o", "-", "-q", "ls"}));
  EXPECT_EQ(run.output, "-");
  EXPECT_TRUE(run.quiet);
  EXPECT_EQ(run.words, Words{"ls"});
}

TEST(OptionsOfACommand, TwoDashesEndThem) {
  const Wrapper run;
  ASSERT_TRUE(parse_options(run.table, {"-q", "--", "--weird", "-q"}));
  EXPECT_TRUE(run.quiet);
  EXPECT_EQ(run.words, (Words{"--weird", "-q"}));
}

TEST(OptionsOfACommand, OnlyTheFirstTwoDashesAreOurs) {
  const Wrapper run;
  ASSERT_TRUE(parse_options(run.table, {"--", "--", "ls"}));
  EXPECT_EQ(run.words, (Words{"--", "ls"}));
  const Wrapper later;
  ASSERT_TRUE(parse_options(later.table, {"env", "--", "ls"}));
  EXPECT_EQ(later.words, (Words{"env", "--", "ls"}));
}

TEST(OptionsOfACommand, ADashAloneIsACommand) {
  const Wrapper run;
  ASSERT_TRUE(parse_options(run.table, {"-"}));
  EXPECT_EQ(run.words, Words{"-"});
}

TEST(OptionsOfACommand, AnEmptyWordIsACommand) {
  const Wrapper run;
  ASSERT_TRUE(parse_options(run.table, {"", "-q"}));
  EXPECT_EQ(run.words, (Words{"", "-q"}));
}

TEST(OptionsOfACommand, NoCommandIsLeftToTheCommand) {
  for (const Words& words : {Words{}, Words{"-q"}, Words{"--"}}) {
    const Wrapper run;
    ASSERT_TRUE(parse_options(run.table, words));
    EXPECT_TRUE(run.words.empty());
  }
}

TEST(OptionsOfACommand, AnUnknownOneBeforeTheCommandIsRefused) {
  const Wrapper run;
  base::Status status = parse_options(run.table, {"--quite", "ls"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(),
            base::fail(ErrorKind::Misused,
                       "unknown option '--quite'; did you mean '--quiet'?"));
}

TEST(FindOperands, IsWhereTheCommandBegins) {
  const Wrapper run;
  struct Case {
    Words arguments;
    size_t begin;
  };
  for (const Case& one : {
           Case{{"ls", "-la"}, 0},
           Case{{"-o", "f", "ls", "--help"}, 2},
           Case{{"-qo", "f", "ls"}, 2},
           Case{{"-of", "ls"}, 1},
           Case{{"--output=f", "ls"}, 1},
           Case{{"--", "--weird"}, 0},
           Case{{"-q", "--", "ls"}, 1},
           Case{{"-"}, 0},
           Case{{"-q"}, 1},
           Case{{"-o"}, 1},
           Case{{"-o", "f"}, 2},
           Case{{}, 0},
       }) {
    EXPECT_EQ(find_operands(run.table, one.arguments), one.begin)
        << testing::PrintToString(one.arguments);
  }
}

TEST(FindOperands, OfATableWithoutACommandIsBehindTheLast) {
  const Example example;
  EXPECT_EQ(find_operands(example.table, {"1", "-v", "--", "2"}), 4U);
}

RC_GTEST_PROP(OptionsOfACommandProperty, ItsWordsArriveAsTheyWereTyped, ()) {
  std::vector<std::string> words =
      *rc::gen::container<std::vector<std::string>>(odd_word());
  words.insert(words.begin(), "command");
  std::vector<std::string> arguments = {"-q", "-o", "f"};
  if (*rc::gen::arbitrary<bool>()) arguments.emplace_back("--");
  arguments.insert(arguments.end(), words.begin(), words.end());
  const Wrapper run;
  RC_ASSERT(parse_options(run.table, arguments));
  RC_ASSERT(run.words == words);
}

// ---- the table --------------------------------------------------------------

TEST(OptionTable, ACommandIsRequiredAndTakesTheRest) {
  const Wrapper run;
  const Option& command = run.table.all().front();
  EXPECT_TRUE(command.is_positional && command.is_required &&
              command.takes_many && command.takes_rest);
}

TEST(OptionTable, AChoiceShowsItsWordsAsItsValue) {
  const Example example;
  for (const Option& option : example.table.all()) {
    if (option.names == "--sort") {
      EXPECT_EQ(option.value, "pss|swap");
      return;
    }
  }
  FAIL() << "--sort is not in the table";
}

TEST(OptionTable, NamesAreListedOneByOne) {
  Option option;
  option.names = "-r,--recursive,--recursively";
  EXPECT_EQ(option.name_list(), (Words{"-r", "--recursive", "--recursively"}));
}

// ---- nearest ----------------------------------------------------------------

const Words kCommands = {"ps", "get", "maps", "doctor", "completion"};

TEST(Nearest, FindsATypo) {
  EXPECT_EQ(nearest("docter", kCommands), "doctor");
}

TEST(Nearest, FindsSwappedLetters) {
  EXPECT_EQ(nearest("mpas", kCommands), "maps");
}

TEST(Nearest, FindsAnUnfinishedWord) {
  EXPECT_EQ(nearest("comp", kCommands), "completion");
}

TEST(Nearest, PrefersATypoToAnUnfinishedWord) {
  EXPECT_EQ(nearest("--inter", {"--interval", "--intel"}), "--intel");
}

TEST(Nearest, FindsNothingFarAway) {
  EXPECT_EQ(nearest("postgres", kCommands), "");
}

TEST(Nearest, AShortWordMustBeNearer) {
  EXPECT_EQ(nearest("xy", kCommands), "");
}

TEST(Nearest, NothingIsLikeAnEmptyWord) {
  EXPECT_EQ(nearest("", kCommands), "");
}

}  // namespace
}  // namespace tidemark::cli
