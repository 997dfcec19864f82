#include "view/text/ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "base/escape.h"
#include "unit/parts.h"
#include "unit/view/ledger_example.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

using model::Ledger;
using model::LedgerClass;

std::string text_of(const Ledger& ledger, LedgerTextOptions options = {}) {
  return ledger_text(ledger, options, TextStyle{});
}

using test::has;

TEST(LedgerText, SaysHowFarItLookedAndWhatIsMissing) {
  const std::string text = text_of(ledger_named("web"));
  EXPECT_TRUE(has(text, "100 MiB of RAM, every page, its mappers")) << text;
  EXPECT_TRUE(has(text, "unnamed 1.00 %, changed while read 0.00 %")) << text;
  EXPECT_TRUE(has(text, "mappers found 100.000 % of 1,000 mapped pages"))
      << text;
}

TEST(LedgerText, SaysWhyItLookedNoFurther) {
  Ledger ledger = ledger_named("web");
  ledger.tier = model::LedgerTier::Pages;
  ledger.tier_note = "cannot load the BPF programs: Operation not permitted";
  ledger.notes = {"no groups: kpagecgroup: No such file or directory"};
  const std::string text = text_of(ledger);
  EXPECT_TRUE(has(text, "no further: cannot load the BPF programs")) << text;
  EXPECT_TRUE(has(text, "\nno groups: kpagecgroup")) << text;
}

TEST(LedgerText, ASampleDoesNotSayThatItSawEveryPage) {
  Ledger ledger = ledger_named("web");
  ledger.tier = model::LedgerTier::Pages;
  ledger.sampled_pages = 5000;
  ledger.unseen_bytes = 2 << 20;
  ledger.rows[0].error_bytes = 3 << 20;
  const std::string text = text_of(ledger);
  EXPECT_TRUE(has(text, "100 MiB of RAM, by the flags of some pages")) << text;
  EXPECT_TRUE(has(text, "a sample of 5,000 pages")) << text;
  EXPECT_TRUE(has(text, "shown has less than 2.00 MiB")) << text;
  EXPECT_TRUE(has(text, "40.00  3.00 MiB\n") || has(text, "40.00   3.00 MiB\n"))
      << text;
  ledger.unseen_bytes = 0;
  const std::string all = text_of(ledger);
  EXPECT_TRUE(has(all, "by the flags of all pages")) << all;
  EXPECT_FALSE(has(all, "a sample of")) << all;
}

// Names have what the numbers leave them; the numbers are never cut.
TEST(LedgerText, KeepsToTheScreen) {
  Ledger ledger = ledger_named(std::string(300, 'x'));
  ledger.notes = {std::string("a note ") + std::string(90, 'y') +
                  " that goes on and on and on and on and on and on and on"};
  for (size_t width : {size_t{50}, size_t{80}, size_t{132}}) {
    TextStyle style;
    style.width = width;
    size_t widest = 0;
    for (const std::string& line : lines_of(ledger_text(ledger, {}, style))) {
      if (line.find('y') == std::string::npos) {
        widest = std::max(widest, base::display_width(line));
      }
    }
    EXPECT_LE(widest, std::max<size_t>(width, 64)) << "its first lines have 64";
    EXPECT_GE(widest, width) << "what there is is used";
  }
}

TEST(LedgerText, EndsWithTheSum) {
  const std::vector<std::string> lines = lines_of(text_of(ledger_named("web")));
  ASSERT_FALSE(lines.empty());
  EXPECT_TRUE(lines.back().starts_with("sum ")) << lines.back();
  EXPECT_TRUE(has(lines.back(), "100 MiB")) << lines.back();
}

TEST(LedgerText, SumsUpOwnersBeyondTheLimit) {
  Ledger ledger = ledger_named("web");
  ledger.rows = {ledger_row(LedgerClass::File, "", 10)};
  for (int i = 0; i < 10; ++i) {
    ledger.rows.push_back(
        ledger_row(LedgerClass::File,
                   ledger.texts.keep("/srv/" + std::to_string(i)), 1, "file"));
  }
  // The last stands for many.
  ledger.rows.back().owner_count = 1000;
  const std::string text = text_of(ledger, {3, 40});
  EXPECT_TRUE(has(text, "  /srv/2 ")) << text;
  EXPECT_FALSE(has(text, "  /srv/3 ")) << text;
  EXPECT_TRUE(has(text, "  1,006 smaller ")) << text;
}

TEST(LedgerText, SumsUpRowsBeyondTheLimit) {
  Ledger ledger = ledger_named("web");
  ledger.rows.clear();
  for (int i = 0; i < 8; ++i) {
    ledger.rows.push_back(ledger_row(
        LedgerClass::File, ledger.texts.keep("/srv/" + std::to_string(i)), 1));
  }
  ledger.rows.push_back(ledger_row(LedgerClass::Free, "", 92));
  const std::string text = text_of(ledger, {6, 5});
  EXPECT_TRUE(has(text, "\n3 smaller ")) << text;
  EXPECT_TRUE(has(text, "\nfree ")) << text;
}

TEST(LedgerText, HostileNamesDoNotReachTheTerminal) {
  const std::string text = text_of(ledger_named("\x1b[2J\nfree 24 GiB\r\xff"));
  EXPECT_TRUE(is_harmless(text)) << text;
  EXPECT_FALSE(has(text, "\nfree 24 GiB"));
  Ledger by_group = ledger_named("web");
  by_group.rows = {ledger_row(LedgerClass::Unnamed, "/a\n/b\x1b[0m", 100)};
  by_group.tier_note = "\x1b]0;title\x07";
  by_group.notes = {"one\ntwo\x1b"};
  EXPECT_TRUE(is_harmless(text_of(by_group)));
  EXPECT_FALSE(has(text_of(by_group), "\ntwo"));
}

RC_GTEST_PROP(LedgerText, AnyNameLeavesTheLinesAsTheyAre, ()) {
  const auto name = *rc::gen::arbitrary<std::string>();
  const std::string text = text_of(ledger_named(name));
  RC_ASSERT(is_harmless(text));
  RC_ASSERT(line_count(text) == line_count(text_of(ledger_named("web"))));
  RC_ASSERT(widest_line(text) <= 80U);
}

TEST(WhatIfText, SaysWhatComesBack) {
  analysis::WhatIf result;
  result.process_count = 2;
  result.anon_bytes = 3 << 20;
  result.page_table_bytes = 1 << 20;
  result.freed_bytes = 4 << 20;
  const std::string text = what_if_text(result, TextStyle{});
  EXPECT_TRUE(text.starts_with("if 2 processes ended\n")) << text;
  EXPECT_TRUE(has(text, "comes back")) << text;
  EXPECT_TRUE(has(text, "4.00 MiB")) << text;
  result.process_count = 1;
  EXPECT_TRUE(what_if_text(result, TextStyle{}).starts_with("if 1 process "));
}

}  // namespace
}  // namespace tidemark::view
