#include "view/text/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/escape.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::DiffReport;
using analysis::DiffRow;

std::string change_text(const TextStyle& style, int64_t bytes) {
  if (bytes == 0) return "0";
  return (bytes > 0 ? "+" : "") + spelled_signed(style, bytes);
}

std::vector<Cell> cells(const std::string& label, const analysis::Bytes& before,
                        const analysis::Bytes& after, const TextStyle& style,
                        Ink ink) {
  constexpr size_t kLabelColumns = 38;
  return {{base::fit_width(label, kLabelColumns, ellipsis(style)), ink},
          {pss_text(style, before), ink},
          {pss_text(style, after), ink},
          {change_text(style, static_cast<int64_t>(after.pss) -
                                  static_cast<int64_t>(before.pss)),
           ink}};
}

void add_counted_again(const DiffReport& report, const TextStyle& style,
                       Table& table) {
  const uint64_t before = report.before_again_bytes;
  const uint64_t after = report.after_again_bytes;
  if (before + after == 0) return;
  const auto minus = [&](uint64_t bytes) {
    return bytes == 0 ? "0" : "-" + spelled(style, bytes);
  };
  table.add_row(
      {{"shared, counted above more than once", Ink::Dim},
       {minus(before), Ink::Dim},
       {minus(after), Ink::Dim},
       {change_text(style, static_cast<int64_t>(before - after)), Ink::Dim}});
}

std::string section(const std::string& head, const std::vector<DiffRow>& rows,
                    size_t limit,
                    const std::function<std::string(const DiffRow&)>& label,
                    const DiffReport& report, const TextStyle& style,
                    bool may_repeat = false) {
  Table table({{head, Align::Left, 30},
               {"BEFORE", Align::Right, 10},
               {"AFTER", Align::Right, 10},
               {"CHANGE", Align::Right, 11}});
  analysis::Bytes rest_before;
  analysis::Bytes rest_after;
  size_t rest = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i < limit && rows[i].change() != 0) {
      table.add_row(cells(label(rows[i]), rows[i].before, rows[i].after, style,
                          Ink::Plain));
      continue;
    }
    ++rest;
    rest_before.add(rows[i].before);
    rest_after.add(rows[i].after);
  }
  if (rest > 0) {
    table.add_row(cells(
        fmt::format("{} {}", base::grouped(rest),
                    rest_before.pss == rest_after.pss ? "unchanged" : "others"),
        rest_before, rest_after, style, Ink::Dim));
  }
  if (may_repeat) add_counted_again(report, style, table);
  table.add_row(
      cells("sum", report.before.total, report.after.total, style, Ink::Bold));
  return table.render(style, false);
}

std::string counts(uint64_t before, uint64_t after, const TextStyle& style) {
  const char* sign = style.utf8 ? "×" : "x";
  if (before == after) {
    return before > 1 ? fmt::format(" {}{}", sign, before) : "";
  }
  return fmt::format(" {}{} {} {}{}", sign, before, style.utf8 ? "→" : "->",
                     sign, after);
}

// Which side lacks shares, where these programs are compared by other means.
std::string headline(const DiffReport& report, const TextStyle& style) {
  const bool is_about = !report.by_counters.empty();
  std::string text = fmt::format(
      "PSS {} {} {}, {}{}", pss_text(style, report.before.total),
      style.utf8 ? "→" : "->", pss_text(style, report.after.total),
      is_about ? "about " : "", change_text(style, report.change()));
  if (!is_about) return text + "\n";
  const char* where = !report.is_unsplit_before  ? " after"
                      : !report.is_unsplit_after ? " before"
                                                 : "";
  const std::string whose =
      report.by_counters.size() == 1
          ? " of " + base::visible(*report.by_counters.begin())
          : fmt::format(" of {} programs", report.by_counters.size());
  return wrapped(style, Ink::Plain, 0,
                 fmt::format("{} (resident memory: the sharing{} was not "
                             "read{})",
                             text, whose, where));
}

std::string unread_note(const DiffReport& report) {
  const uint64_t count =
      report.before.unknown_count + report.after.unknown_count;
  if (count == 0) return "";
  return fmt::format("\nnot in these sums: {} of which nothing could be read\n",
                     base::counted(count, "process", "processes"));
}

}  // namespace

std::string diff_text(const DiffReport& report, const DiffTextOptions& options,
                      const TextStyle& style) {
  std::string text = fmt::format(
      "before  {}\nafter   {}\n{}\n", base::visible(report.before_label),
      base::visible(report.after_label), headline(report, style));
  text += section(
      "BY KIND", report.categories, options.row_limit,
      [](const DiffRow& row) {
        return std::string(model::category_name(row.category));
      },
      report, style);
  text += "\n" + section(
                     "BY OBJECT", report.parts, options.row_limit,
                     [](const DiffRow& row) { return base::visible(row.name); },
                     report, style);
  text += "\n" + section(
                     "BY PROCESS", report.processes, options.row_limit,
                     [&](const DiffRow& row) {
                       return base::visible(row.name) +
                              counts(row.before_count, row.after_count, style);
                     },
                     report, style, true);
  return text + unread_note(report);
}

}  // namespace tidemark::view
