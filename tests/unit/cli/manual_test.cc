// `manual`, through its entry in the command table.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

std::vector<std::string> all_pages() {
  return lines_of(output_of("manual", {"--list"}));
}

// As roff wants it: a bare dash would become a hyphen.
std::string with_dashes_escaped(const std::string& text) {
  std::string out;
  for (char c : text)
    out += c == '-' ? std::string("\\-") : std::string(1, c);
  return out;
}

TEST(Manual, ListsAPageForTheProgramAndEachCommand) {
  const std::vector<std::string> pages = all_pages();
  EXPECT_EQ(pages.size(), command_table().size() + 1);
  EXPECT_EQ(pages.at(0), "tidemark");
  for (const CommandEntry& entry : command_table()) {
    EXPECT_TRUE(contains(pages, "tidemark-" + std::string(entry.name)))
        << entry.name;
  }
}

TEST(Manual, APageIsFoundByTheNameOfItsCommand) {
  EXPECT_EQ(output_of("manual", {"ps"}), output_of("manual", {"tidemark-ps"}));
}

TEST(Manual, WithoutANameItIsTheOverview) {
  EXPECT_EQ(output_of("manual", {}), output_of("manual", {"tidemark"}));
}

TEST(Manual, AnUnknownPageIsMisuse) {
  base::Result<ExitCode> result = run("manual", {"tidemark-peek"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), base::fail(base::ErrorKind::Misused,
                                       "no manual page 'tidemark-peek'",
                                       "`tidemark manual --list` lists them"));
}

TEST(Manual, APageHasEveryOptionOfItsCommand) {
  for (const CommandEntry& entry : command_table()) {
    const std::string page = output_of("manual", {std::string(entry.name)});
    for (const std::string& name : option_names(entry.make())) {
      EXPECT_NE(page.find(with_dashes_escaped(name)), std::string::npos)
          << entry.name << " " << name;
    }
  }
}

TEST(Manual, TheOverviewNamesEveryCommand) {
  const std::string page = output_of("manual", {});
  for (const CommandEntry& entry : command_table()) {
    EXPECT_NE(page.find("tidemark\\-" + std::string(entry.name)),
              std::string::npos)
        << entry.name;
  }
}

TEST(Manual, EveryPageHasTheSectionsOfAManualPage) {
  for (const std::string& name : all_pages()) {
    const std::string page = output_of("manual", {name});
    EXPECT_TRUE(page.starts_with(".TH ")) << name;
    for (const char* section :
         {"NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "ENVIRONMENT"}) {
      EXPECT_NE(page.find(std::string("\n.SH ") + section + "\n"),
                std::string::npos)
          << name << " " << section;
    }
  }
}

// A line of text that begins with a dot or a quote would vanish as a request.
TEST(Manual, OnlyRequestsBeginWithADotAndNothingWithAQuote) {
  const std::set<std::string> requests = {".TH", ".SH", ".TP",
                                          ".B",  ".BR", ".I"};
  for (const std::string& name : all_pages()) {
    for (const std::string& line : lines_of(output_of("manual", {name}))) {
      EXPECT_FALSE(line.starts_with('\'')) << name << ": " << line;
      if (line.starts_with('.')) {
        EXPECT_TRUE(requests.count(line.substr(0, line.find(' '))))
            << name << ": " << line;
      }
    }
  }
}

TEST(Manual, EveryBackslashBeginsAnEscapeThatIsMeant) {
  for (const std::string& name : all_pages()) {
    const std::string page = output_of("manual", {name});
    for (size_t at = page.find('\\'); at != std::string::npos;
         at = page.find('\\', at + 2)) {
      EXPECT_NE(std::string("-e&f").find(page.at(at + 1)), std::string::npos)
          << name << ": " << page.substr(at, 20);
    }
  }
}

TEST(Manual, NoLineIsEmpty) {
  for (const std::string& name : all_pages()) {
    for (const std::string& line : lines_of(output_of("manual", {name}))) {
      EXPECT_FALSE(line.empty()) << name;
    }
  }
}

}  // namespace
}  // namespace tidemark::cli
