#include "view/text/table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

TextStyle width_of(size_t columns) {
  TextStyle style;
  style.width = columns;
  return style;
}

TEST(Table, LinesColumnsUpUnderTheirHeads) {
  Table table({{"TASK", Align::Left}, {"PSS"}, {"NAME", Align::Left}});
  table.add_row({{"p:1"}, {"6.11G"}, {"init"}});
  table.add_row({{"p:12345"}, {"0"}, {"x"}});
  EXPECT_EQ(table.render(TextStyle{}, false),
            "TASK       PSS  NAME\n"
            "p:1      6.11G  init\n"
            "p:12345      0  x\n");
}

TEST(Table, AGapOfOnePartsColumnsWithOneBlank) {
  Table table({{"TASK", Align::Left}, {"PSS"}, {"NAME", Align::Left}}, 1);
  table.add_row({{"p:1"}, {"6.11G"}, {"init"}});
  EXPECT_EQ(table.render(TextStyle{}, false),
            "TASK   PSS NAME\n"
            "p:1  6.11G init\n");
}

TEST(Table, CountsAWideCharacterAsTwoColumns) {
  Table table({{"NAME", Align::Left}, {"PSS"}});
  table.add_row({{"宽字"}, {"1K"}});
  table.add_row({{"abcde"}, {"2K"}});
  EXPECT_EQ(table.render(TextStyle{}, false),
            "NAME   PSS\n"
            "宽字    1K\n"
            "abcde   2K\n");
}

TEST(Table, CountsACombiningMarkAsNone) {
  Table table({{"NAME", Align::Left}, {"PSS"}});
  table.add_row({{"e\u0301te\u0301"}, {"1K"}});
  EXPECT_EQ(table.render(TextStyle{}, false),
            "NAME  PSS\n"
            "e\u0301te\u0301    1K\n");
}

TEST(Table, ALeastWidthHoldsWithoutRows) {
  const Table table({{"A", Align::Right, 6}, {"B", Align::Left}});
  EXPECT_EQ(table.render(TextStyle{}, false), "     A  B\n");
}

TEST(Table, RepeatsTheHeadAsTheLastLine) {
  Table table({{"A", Align::Left}});
  table.add_row({{"x"}});
  EXPECT_EQ(table.render(TextStyle{}, true), "A\nx\nA\n");
}

TEST(Table, MissingCellsAreBlankWithoutTrailingBlanks) {
  Table table({{"A", Align::Left}, {"B"}, {"C", Align::Left}});
  table.add_row({{"x"}});
  table.add_row({{}, {}, {"z"}});
  EXPECT_EQ(table.render(TextStyle{}, false),
            "A  B  C\n"
            "x\n"
            "      z\n");
}

TEST(Table, BlanksAtTheEndOfANameAreLeftOut) {
  Table table({{"A", Align::Left}, {"NAME", Align::Left}});
  table.add_row({{"x"}, {"name  "}});
  table.add_row({{"y"}, {"  "}});
  EXPECT_EQ(table.render_bare(TextStyle{}, 0), "x  name\ny\n");
}

TEST(Table, CutsTheLastColumnToTheWidth) {
  Table table({{"A", Align::Left}, {"NAME", Align::Left}});
  table.add_row({{"x"}, {"abcdefghijklmnop"}});
  // 15 columns less "x" and the gap leave 12, one of them the ellipsis.
  EXPECT_EQ(table.render(width_of(15), false),
            "A  NAME\n"
            "x  abcdefghijk…\n");
}

TEST(Table, CutsWithThreeDotsInAscii) {
  TextStyle style = width_of(15);
  style.utf8 = false;
  Table table({{"A", Align::Left}, {"NAME", Align::Left}});
  table.add_row({{"x"}, {"abcdefghijklmnop"}});
  EXPECT_EQ(table.render(style, false),
            "A  NAME\n"
            "x  abcdefghi...\n");
}

TEST(Table, NeverCutsAnotherColumn) {
  Table table({{"NAME", Align::Left}, {"LAST", Align::Left}});
  table.add_row({{"abcdefghijklmnopqrst"}, {"12345678"}});
  EXPECT_EQ(table.render(width_of(10), false),
            "NAME                  LAST\n"
            "abcdefghijklmnopqrst  12345678\n");
}

TEST(Table, WideNamesAreNeverCut) {
  TextStyle style = width_of(10);
  style.wide = true;
  Table table({{"NAME", Align::Left}});
  table.add_row({{"abcdefghijklmnopqrst"}});
  EXPECT_EQ(table.render(style, false), "NAME\nabcdefghijklmnopqrst\n");
}

TEST(Table, BareLinesAreIndentedAndHeadsDoNotWidenThem) {
  Table table({{"a long head", Align::Left}, {""}});
  table.add_row({{"x"}, {"1"}});
  EXPECT_EQ(table.render_bare(TextStyle{}, 2), "  x  1\n");
}

TEST(Table, TheIndentCountsTowardsTheWidth) {
  Table table({{"", Align::Left}});
  table.add_row({{"abcdefghijklmnop"}});
  EXPECT_EQ(table.render_bare(width_of(12), 2), "  abcdefghi…\n");
}

TEST(Table, ColourMovesNoColumn) {
  Table table({{"A", Align::Left}, {"B"}});
  table.add_row({{"x", Ink::Bold}, {"10", Ink::Warn}});
  TextStyle style;
  style.color = true;
  EXPECT_EQ(table.render_bare(style, 0),
            "\x1b[1mx\x1b[0m  \x1b[33m10\x1b[0m\n");
}

// Up to `most` characters of one or two columns; blanks only inside.
rc::Gen<std::string> cell_text(size_t most) {
  const auto letter = rc::gen::element<std::string>("a", "Z", "7", "ß", "宽",
                                                    "\u0301", "…", "\\x1b");
  return rc::gen::map(
      rc::gen::resize(static_cast<int>(most),
                      rc::gen::container<std::vector<std::string>>(letter)),
      [most](std::vector<std::string> letters) {
        if (letters.size() > most) letters.resize(most);
        std::string text;
        for (const std::string& one : letters)
          text += one;
        if (letters.size() > 2) text.insert(0, "  ");
        return text;
      });
}

struct RandomTable {
  Table table;
  size_t row_count = 0;
};

// Fixed columns of at most four times 6+2, so that 8 of 40 columns are left
// for the last.
RandomTable random_table() {
  const auto fixed_count = *rc::gen::inRange<size_t>(0, 5);
  std::vector<Column> columns;
  for (size_t i = 0; i < fixed_count; ++i) {
    columns.push_back({"HEAD", *rc::gen::element(Align::Left, Align::Right),
                       *rc::gen::inRange<size_t>(0, 7)});
  }
  columns.push_back({"NAME", Align::Left});
  RandomTable random{Table(columns)};
  random.row_count = *rc::gen::inRange<size_t>(0, 6);
  for (size_t row = 0; row < random.row_count; ++row) {
    std::vector<Cell> cells;
    for (size_t i = 0; i < fixed_count; ++i) {
      cells.push_back({base::fit_width(*cell_text(6), 6, "")});
      while (cells.back().text.ends_with(' '))
        cells.back().text.pop_back();
    }
    if (*rc::gen::arbitrary<bool>()) {
      cells.push_back({*cell_text(200) + *rc::gen::element("", "  ")});
    }
    random.table.add_row(std::move(cells));
  }
  return random;
}

RC_GTEST_PROP(TableProperty, NoLineIsWiderThanTheStyle, ()) {
  const RandomTable random = random_table();
  const TextStyle style = width_of(*rc::gen::inRange<size_t>(40, 120));
  RC_ASSERT(widest_line(random.table.render(style, true)) <= style.width);
}

RC_GTEST_PROP(TableProperty, NoLineEndsInABlank, ()) {
  const RandomTable random = random_table();
  TextStyle style = width_of(*rc::gen::inRange<size_t>(40, 120));
  style.wide = *rc::gen::arbitrary<bool>();
  for (const std::string& line : lines_of(random.table.render(style, true))) {
    RC_ASSERT(!line.ends_with(' '));
  }
}

RC_GTEST_PROP(TableProperty, EveryRowIsOneLine, ()) {
  const RandomTable random = random_table();
  RC_ASSERT(line_count(random.table.render(TextStyle{}, true)) ==
            random.row_count + 2);
}

}  // namespace
}  // namespace tidemark::view
