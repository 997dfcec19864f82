#include "view/text/diff.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "unit/view/examples.h"
#include "unit/view/recording_example.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

using analysis::Composition;
using analysis::DiffReport;
using model::Category;

TextStyle in_bytes() {
  TextStyle style;
  style.unit = base::SizeUnit::Bytes;
  return style;
}

// "1,024" and "+1,024" as numbers.
int64_t number_in(std::string_view word) {
  std::string digits;
  for (char c : word) {
    if (c != ',' && c != '+') digits += c;
  }
  return std::stoll(digits);
}

struct Line {
  std::string label;
  int64_t before = 0;
  int64_t after = 0;
  int64_t change = 0;
};

// The rows of each table; the last of each is its sum.
std::vector<std::vector<Line>> tables_in(const std::string& text) {
  std::vector<std::vector<Line>> tables;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("BY ")) tables.emplace_back();
    if (tables.empty() || line.empty() || line.starts_with("BY ")) continue;
    std::vector<std::string> words;
    std::string_view rest = line;
    while (true) {
      const std::string_view word = base::take_word(rest);
      if (word.empty()) break;
      if (word != "B") words.emplace_back(word);
    }
    if (words.size() < 4) continue;
    const size_t last = words.size() - 1;
    tables.back().push_back({words[0], number_in(words[last - 2]),
                             number_in(words[last - 1]),
                             number_in(words[last])});
  }
  return tables;
}

Composition any_composition() {
  Composition all;
  const auto count = *rc::gen::inRange(0, 12);
  for (int i = 0; i < count; ++i) {
    const analysis::Bytes bytes =
        bytes_of(*rc::gen::inRange<uint64_t>(0, 1 << 20));
    all.parts.push_back({*rc::gen::element(Category::File, Category::Heap),
                         "o" + std::to_string(i), bytes, 1});
    all.processes.emplace_back().name = "p" + std::to_string(i % 4);
    all.processes.back().bytes = bytes;
    all.processes.back().kinds[all.parts.back().category] = bytes;
    all.total.add(bytes);
  }
  return all;
}

RC_GTEST_PROP(DiffText, TheLinesOfEachTableAddUpToItsSum, ()) {
  const DiffReport report =
      analysis::make_diff_report(any_composition(), any_composition());
  const std::vector<std::vector<Line>> tables = tables_in(
      diff_text(report, {*rc::gen::inRange<size_t>(1, 6)}, in_bytes()));
  RC_ASSERT(tables.size() == 3U);
  for (const std::vector<Line>& table : tables) {
    RC_ASSERT(!table.empty());
    RC_ASSERT(table.back().label == "sum");
    Line sum;
    for (size_t i = 0; i + 1 < table.size(); ++i) {
      sum.before += table[i].before;
      sum.after += table[i].after;
      sum.change += table[i].change;
    }
    RC_ASSERT(sum.before == table.back().before);
    RC_ASSERT(sum.after == table.back().after);
    RC_ASSERT(sum.change == table.back().change);
    RC_ASSERT(sum.change == report.change());
  }
}

TEST(DiffText, SaysHowManyWereNotRead) {
  Composition unread;
  unread.unknown_count = 2;
  const DiffReport report = analysis::make_diff_report({}, std::move(unread));
  EXPECT_TRUE(diff_text(report, {}, TextStyle{})
                  .ends_with("not in these sums: 2 processes of which nothing "
                             "could be read\n"));
}

TEST(DiffText, HeadsWhatIsComparedByResidentMemory) {
  DiffReport report = analysis::make_diff_report({}, {});
  report.before.total = {
      .rss = 100 << 20, .pss = 100 << 20, .bounded = 100 << 20};
  report.after.total = {
      .rss = 450 << 20, .pss = 450 << 20, .bounded = 450 << 20};
  report.by_counters = {"big"};
  report.is_unsplit_after = true;
  TextStyle style;
  style.width = 200;
  const std::string text = diff_text(report, {}, style);
  EXPECT_NE(text.find("PSS ≤ 100 MiB → ≤ 450 MiB, about +350 MiB (resident "
                      "memory: the sharing of big was not read after)"),
            std::string::npos)
      << text;
}

RC_GTEST_PROP(DiffTextProperty, HostileNamesCannotControlTheTerminal, ()) {
  const std::string name = *hostile_name();
  const std::string text = diff_text(named_diff_report(name), {}, TextStyle{});
  RC_ASSERT(is_harmless(text));
  RC_ASSERT(line_count(text) ==
            line_count(diff_text(named_diff_report("tame"), {}, TextStyle{})));
}

}  // namespace
}  // namespace tidemark::view
