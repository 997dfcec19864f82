#include "view/text/allocinfo.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::AllocinfoGrouping;
using analysis::AllocinfoReport;
using analysis::AllocinfoRow;
using analysis::AllocinfoTotals;

std::string module_cell(const AllocinfoRow& row) {
  return row.module.empty() ? "-" : base::visible(row.module);
}

// The function tells more than the file, so it stands where it is cut last.
std::string place_cell(const AllocinfoRow& row) {
  return base::visible(row.function) + " " + base::visible(row.file) +
         fmt::format(":{}", row.line);
}

std::string calls_cell(const AllocinfoRow& row) {
  return base::grouped(row.calls) + (row.is_inexact ? "*" : "");
}

// Size, growth where there is a reading before, and calls.
std::vector<Column> number_columns(const AllocinfoReport& report) {
  std::vector<Column> columns = {{"SIZE", Align::Right, 5}};
  if (report.since_realtime_ns) columns.push_back({"GREW", Align::Right});
  columns.push_back({"CALLS", Align::Right, 0, 3});
  return columns;
}

std::vector<Cell> number_cells(const AllocinfoReport& report,
                               const AllocinfoRow& row,
                               const TextStyle& style) {
  std::vector<Cell> cells = {{dense_signed(style, row.bytes)}};
  if (report.since_realtime_ns) {
    cells.push_back({dense_signed(style, row.grown_bytes)});
  }
  cells.push_back({calls_cell(row)});
  return cells;
}

std::string lines_table(const AllocinfoReport& report, const TextStyle& style) {
  std::vector<Column> columns = number_columns(report);
  columns.push_back({"MODULE", Align::Left, 0, 4});
  columns.push_back({"PLACE", Align::Left});
  Table table(std::move(columns));
  for (const AllocinfoRow& row : report.rows) {
    std::vector<Cell> cells = number_cells(report, row, style);
    cells.push_back({module_cell(row)});
    cells.push_back({place_cell(row)});
    table.add_row(std::move(cells));
  }
  return table.render(style, false);
}

std::string modules_table(const AllocinfoReport& report,
                          const TextStyle& style) {
  std::vector<Column> columns = number_columns(report);
  columns.push_back({"LINES", Align::Right, 0, 2});
  columns.push_back({"MODULE", Align::Left});
  Table table(std::move(columns));
  for (const AllocinfoRow& row : report.rows) {
    std::vector<Cell> cells = number_cells(report, row, style);
    cells.push_back({base::grouped(row.site_count)});
    cells.push_back(
        {row.module.empty() ? "the kernel itself" : base::visible(row.module)});
    table.add_row(std::move(cells));
  }
  return table.render(style, false);
}

std::string sums(const AllocinfoReport& report, const TextStyle& style) {
  const AllocinfoTotals& totals = report.totals;
  std::string text = "held: " + dense_signed(style, totals.held_bytes);
  if (totals.grown_bytes) {
    text +=
        fmt::format(", grew by {}", dense_signed(style, *totals.grown_bytes));
  }
  std::string out = wrapped(style, Ink::Plain, 0, text);
  if (totals.residue_bytes && totals.used_bytes) {
    out += wrapped(style, Ink::Plain, 0,
                   fmt::format("RAM in use: {} = {} held + {} not told here",
                               base::short_size(*totals.used_bytes, style.unit),
                               dense_signed(style, totals.held_bytes),
                               dense_signed(style, *totals.residue_bytes)));
  }
  if (totals.slab_page_bytes != 0) {
    out += wrapped(style, Ink::Dim, 0,
                   fmt::format("left out: {} of slab pages, which the objects "
                               "in them count again",
                               dense_signed(style, totals.slab_page_bytes)));
  }
  if (totals.noise_count > 0) {
    out += wrapped(
        style, Ink::Dim, 0,
        fmt::format("left out: {} at {} {} without a call, which migration "
                    "leaves behind",
                    dense_signed(style, totals.noise_bytes),
                    base::grouped(totals.noise_count),
                    totals.noise_count == 1 ? "place" : "places"));
  }
  return out;
}

std::string remarks(const AllocinfoReport& report, const TextStyle& style) {
  std::string out;
  if (report.folded_count > 0) {
    out += wrapped(
        style, Ink::Dim, 0,
        fmt::format("{} in {} more", dense_signed(style, report.folded_bytes),
                    base::grouped(report.folded_count)));
  }
  out += sums(report, style);
  if (std::any_of(report.rows.begin(), report.rows.end(),
                  [](const AllocinfoRow& row) { return row.is_inexact; })) {
    out += wrapped(style, Ink::Warn, 0, "*: the kernel has missed some here");
  }
  for (const std::string& note : report.notes)
    out += wrapped(style, Ink::Dim, 0, base::visible(note));
  return out;
}

}  // namespace

std::string allocinfo_text(const AllocinfoReport& report,
                           const TextStyle& style) {
  const std::string rows = report.group_by == AllocinfoGrouping::Line
                               ? lines_table(report, style)
                               : modules_table(report, style);
  return rows + "\n" + remarks(report, style);
}

}  // namespace tidemark::view
