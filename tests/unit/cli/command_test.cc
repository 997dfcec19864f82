#include "cli/command.h"

#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include <memory>
#include <string>
#include <vector>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

// ---- the common options -----------------------------------------------------

const std::vector<std::string> kAllFormats = {"text", "json", "jsonl", "csv"};

base::Result<CommonOptions> parsed(const std::vector<std::string>& arguments) {
  CommonOptions common;
  OptionTable table;
  add_common_options(table, common, kAllFormats);
  base::Status status = parse_options(table, arguments);
  if (!status) return status.error();
  return common;
}

CommonOptions taken(const std::vector<std::string>& arguments) {
  base::Result<CommonOptions> common = parsed(arguments);
  EXPECT_TRUE(common) << common.error().what;
  return common ? *common : CommonOptions{};
}

std::vector<std::string> names_for(const std::vector<std::string>& formats) {
  CommonOptions common;
  Command command;
  add_common_options(command.options, common, formats);
  return option_names(command);
}

TEST(CommonOptions, TextToStandardOutputUnlessAsked) {
  const CommonOptions common = taken({});
  EXPECT_EQ(common.format, Format::Text);
  EXPECT_EQ(common.output_path, "");
  EXPECT_EQ(common.color, "auto");
  EXPECT_FALSE(common.wide || common.quiet || common.help);
}

TEST(CommonOptions, EveryFormatHasItsWord) {
  EXPECT_EQ(taken({"--format", "text"}).format, Format::Text);
  EXPECT_EQ(taken({"--format", "json"}).format, Format::Json);
  EXPECT_EQ(taken({"--format", "jsonl"}).format, Format::JsonLines);
  EXPECT_EQ(taken({"--format", "csv"}).format, Format::Csv);
}

TEST(CommonOptions, JsonAndCsvAreShortForTheirFormat) {
  EXPECT_EQ(taken({"--json"}).format, Format::Json);
  EXPECT_EQ(taken({"--csv"}).format, Format::Csv);
}

TEST(CommonOptions, TheLastFormatWinsHoweverItIsWritten) {
  EXPECT_EQ(taken({"--json", "--format", "csv"}).format, Format::Csv);
  EXPECT_EQ(taken({"--csv", "--json"}).format, Format::Json);
}

TEST(CommonOptions, UnitsAreReadInFullAndAsLetters) {
  EXPECT_EQ(taken({"--units", "MiB"}).unit, base::SizeUnit::MiB);
  EXPECT_EQ(taken({"--units", "k"}).unit, base::SizeUnit::KiB);
}

TEST(CommonOptions, AnUnknownUnitIsMisuse) {
  base::Result<CommonOptions> common = parsed({"--units", "MB"});
  ASSERT_FALSE(common);
  EXPECT_EQ(common.error().kind, base::ErrorKind::Misused);
}

TEST(CommonOptions, PathsAreTakenAsTheyAre) {
  EXPECT_EQ(taken({"-o", "out.txt"}).output_path, "out.txt");
  EXPECT_EQ(taken({"--proc", "copy/proc"}).proc_path, "copy/proc");
}

TEST(CommonOptions, CsvIsOfferedOnlyWhereItIsPrinted) {
  const std::vector<std::string> names = names_for({"text", "json"});
  EXPECT_FALSE(contains(names, "--csv"));
  EXPECT_FALSE(contains(names, "--units"));
}

TEST(CommonOptions, AFormatThatIsNotPrintedIsRefused) {
  CommonOptions common;
  OptionTable table;
  add_common_options(table, common, {"text", "json"});
  EXPECT_FALSE(parse_options(table, {"--format", "csv"}));
}

TEST(JsonLayout, OnlyJsonLinesAreOneLine) {
  EXPECT_EQ(json_layout(Format::JsonLines), base::JsonWriter::Layout::OneLine);
  EXPECT_EQ(json_layout(Format::Json), base::JsonWriter::Layout::Pretty);
}

// ---- style from the environment ---------------------------------------------

// Starts without any of the variables that matter, on a terminal and beside
// it on a pipe's stand-in.
class TextStyleTest : public testing::Test {
 protected:
  TextStyleTest() {
    for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR",
                             "TERM", "LC_ALL", "LC_CTYPE", "LANG", "COLUMNS"}) {
      unset_.push_back(std::make_unique<Variable>(name, nullptr));
    }
  }

  view::TextStyle on_terminal() const {
    return text_style(common_, terminal_.fd());
  }
  view::TextStyle on_file() const { return text_style(common_, null_.get()); }

  CommonOptions common_;
  Terminal terminal_;

 private:
  std::vector<std::unique_ptr<Variable>> unset_;
  base::Fd null_{::open("/dev/null", O_WRONLY)};
};

TEST_F(TextStyleTest, ATerminalHasColour) {
  const Variable term("TERM", "xterm");
  EXPECT_TRUE(on_terminal().color);
}

TEST_F(TextStyleTest, AFileHasNoColour) {
  const Variable term("TERM", "xterm");
  EXPECT_FALSE(on_file().color);
}

TEST_F(TextStyleTest, ADumbTerminalHasNoColour) {
  const Variable term("TERM", "dumb");
  EXPECT_FALSE(on_terminal().color);
}

TEST_F(TextStyleTest, ATerminalOfNoKnownKindHasNoColour) {
  EXPECT_FALSE(on_terminal().color);
}

TEST_F(TextStyleTest, NoColorTurnsColourOff) {
  const Variable term("TERM", "xterm");
  const Variable no_color("NO_COLOR", "1");
  EXPECT_FALSE(on_terminal().color);
}

TEST_F(TextStyleTest, AnEmptyNoColorDoesNotCount) {
  const Variable term("TERM", "xterm");
  const Variable no_color("NO_COLOR", "");
  EXPECT_TRUE(on_terminal().color);
}

TEST_F(TextStyleTest, ClicolorForceTurnsColourOnForAFile) {
  const Variable force("CLICOLOR_FORCE", "1");
  EXPECT_TRUE(on_file().color);
}

TEST_F(TextStyleTest, NoColorIsStrongerThanForce) {
  const Variable force("CLICOLOR_FORCE", "1");
  const Variable no_color("NO_COLOR", "1");
  EXPECT_FALSE(on_file().color);
}

TEST_F(TextStyleTest, TheOptionIsStrongerThanTheEnvironment) {
  const Variable no_color("NO_COLOR", "1");
  common_.color = "always";
  EXPECT_TRUE(on_file().color);
}

TEST_F(TextStyleTest, NeverMeansNever) {
  const Variable force("CLICOLOR_FORCE", "1");
  common_.color = "never";
  EXPECT_FALSE(on_file().color);
}

TEST_F(TextStyleTest, WithoutALocaleTextIsAscii) {
  EXPECT_FALSE(on_file().utf8);
}

TEST_F(TextStyleTest, EverySpellingOfUtf8Counts) {
  for (const char* locale :
       {"C.UTF-8", "en_US.utf8", "de_DE.UTF-8@euro", "en_US.utf-8"}) {
    const Variable lang("LANG", locale);
    EXPECT_TRUE(on_file().utf8) << locale;
  }
}

TEST_F(TextStyleTest, AnotherEncodingIsAscii) {
  const Variable lang("LANG", "de_DE.ISO-8859-1");
  EXPECT_FALSE(on_file().utf8);
}

TEST_F(TextStyleTest, LcCtypeIsStrongerThanLang) {
  const Variable lang("LANG", "C.UTF-8");
  const Variable ctype("LC_CTYPE", "C");
  EXPECT_FALSE(on_file().utf8);
}

TEST_F(TextStyleTest, LcAllIsStrongerThanLcCtype) {
  const Variable ctype("LC_CTYPE", "C");
  const Variable all("LC_ALL", "C.UTF-8");
  EXPECT_TRUE(on_file().utf8);
}

TEST_F(TextStyleTest, AnEmptyLcAllDoesNotCount) {
  const Variable lang("LANG", "C.UTF-8");
  const Variable all("LC_ALL", "");
  EXPECT_TRUE(on_file().utf8);
}

TEST_F(TextStyleTest, AFileIs80ColumnsWide) {
  EXPECT_EQ(on_file().width, 80U);
}

TEST_F(TextStyleTest, ColumnsWidensAFile) {
  const Variable columns("COLUMNS", "132");
  EXPECT_EQ(on_file().width, 132U);
}

TEST_F(TextStyleTest, AColumnsThatIsNoWidthIsIgnored) {
  for (const char* odd : {"", "wide", "-80", "39", "80x"}) {
    const Variable columns("COLUMNS", odd);
    EXPECT_EQ(on_file().width, 80U) << odd;
  }
}

TEST_F(TextStyleTest, ATerminalsOwnWidthIsStrongerThanColumns) {
  winsize size{};
  size.ws_col = 60;
  ASSERT_EQ(::ioctl(terminal_.fd(), TIOCSWINSZ, &size), 0);
  const Variable columns("COLUMNS", "132");
  EXPECT_EQ(on_terminal().width, 60U);
}

TEST_F(TextStyleTest, ATerminalWithoutAWidthIs80ColumnsWide) {
  EXPECT_EQ(on_terminal().width, 80U);
}

TEST_F(TextStyleTest, WideAndUnitsAreHandedOn) {
  common_.wide = true;
  common_.unit = base::SizeUnit::GiB;
  EXPECT_TRUE(on_file().wide);
  EXPECT_EQ(on_file().unit, base::SizeUnit::GiB);
}

// ---- messages ---------------------------------------------------------------

TEST(PrintError, HasTheProgramsNameAndTheHintBelow) {
  EXPECT_EQ(written_to(STDERR_FILENO,
                       [] {
                         print_error(base::fail(base::ErrorKind::Denied,
                                                "cannot read", "run as root"));
                       }),
            "tidemark: cannot read\n  hint: run as root\n");
}

TEST(PrintError, WithoutAHintIsOneLine) {
  EXPECT_EQ(written_to(
                STDERR_FILENO,
                [] { print_error(base::fail(base::ErrorKind::Denied, "no")); }),
            "tidemark: no\n");
}

TEST(PrintNote, IsSilentWhenQuiet) {
  CommonOptions common;
  EXPECT_EQ(written_to(STDERR_FILENO, [&] { print_note(common, "late"); }),
            "tidemark: late\n");
  common.quiet = true;
  EXPECT_EQ(written_to(STDERR_FILENO, [&] { print_note(common, "late"); }), "");
}

}  // namespace
}  // namespace tidemark::cli
