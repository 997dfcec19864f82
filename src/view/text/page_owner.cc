#include "view/text/page_owner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::PageOwnerReport;
using analysis::PageOwnerRow;

std::string size_of(const PageOwnerReport& report, uint64_t pages,
                    const TextStyle& style) {
  return base::short_size(pages * report.page_size_bytes, style.unit);
}

std::string id_cell(const std::optional<int32_t>& id) {
  return id ? std::to_string(*id) : "-";
}

std::string time_cell(const std::optional<uint64_t>& ns) {
  return ns ? fmt::format("{:.3f}", static_cast<double>(*ns) / 1e9) : "-";
}

std::string name_cell(const PageOwnerRow& row) {
  return row.name && !row.name->empty() ? base::visible(*row.name) : "-";
}

std::string allocator_cell(const PageOwnerRow& row) {
  return row.allocator ? std::string(page_allocator_token(*row.allocator))
                       : "-";
}

struct RowColumn {
  Column column;
  std::string (*cell)(const PageOwnerRow& row);
};

// What no group tells has no column.
std::string rows_table(const PageOwnerReport& report, const TextStyle& style) {
  constexpr std::string_view kNothing = "-";
  const RowColumn told[] = {
      {{"PID", Align::Right, 0, 4},
       [](const PageOwnerRow& row) { return id_cell(row.pid); }},
      {{"TGID", Align::Right, 0, 5},
       [](const PageOwnerRow& row) { return id_cell(row.tgid); }},
      {{"OLDEST", Align::Right, 0, 2},
       [](const PageOwnerRow& row) { return time_cell(row.oldest_ns); }},
      {{"NEWEST", Align::Right, 0, 1},
       [](const PageOwnerRow& row) { return time_cell(row.newest_ns); }},
      {{"ALLOCATOR", Align::Left, 0, 3}, allocator_cell},
      {{"NAME", Align::Left}, name_cell}};
  std::vector<Column> columns = {{"SIZE", Align::Right, 5},
                                 {"PAGES", Align::Right},
                                 {"BLOCKS", Align::Right}};
  std::vector<std::vector<Cell>> rows;
  for (const PageOwnerRow& row : report.rows) {
    rows.push_back({{size_of(report, row.pages, style)},
                    {base::grouped(row.pages)},
                    {base::grouped(row.blocks)}});
  }
  for (const RowColumn& one : told) {
    if (std::all_of(report.rows.begin(), report.rows.end(),
                    [&](const PageOwnerRow& row) {
                      return one.cell(row) == kNothing;
                    })) {
      continue;
    }
    columns.push_back(one.column);
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i].push_back({one.cell(report.rows[i])});
  }
  Table table(std::move(columns));
  for (std::vector<Cell>& row : rows)
    table.add_row(std::move(row));
  return table.render(style, false);
}

// "47.6M in 12,186 pages, 5,408 blocks, sh (20), slab, since 0.412 s". Whose it
// is stands there when all is one task's.
std::string head_of(const PageOwnerReport& report, const PageOwnerRow& row,
                    const TextStyle& style) {
  std::string text =
      fmt::format("{} in {}, {}", size_of(report, row.pages, style),
                  base::counted(row.pages, "page", "pages"),
                  base::counted(row.blocks, "block", "blocks"));
  if (row.name) text += ", " + name_cell(row);
  if (row.tgid) text += fmt::format(" ({})", *row.tgid);
  if (row.pid && row.pid != row.tgid) text += fmt::format(", pid {}", *row.pid);
  if (row.allocator && row.allocator != model::PageAllocator::Others) {
    text += fmt::format(", {}", page_allocator_token(*row.allocator));
  }
  if (row.oldest_ns) {
    text += fmt::format(", since {} s", time_cell(row.oldest_ns));
  }
  return wrapped(style, Ink::Bold, 0, text);
}

std::string rows_with_stacks(const PageOwnerReport& report,
                             const TextStyle& style) {
  constexpr size_t kIndent = 4;
  std::string out;
  for (const PageOwnerRow& row : report.rows) {
    if (!out.empty()) out += "\n";
    out += head_of(report, row, style);
    for (const std::string& frame : row.frames) {
      out += wrapped(style, Ink::Plain, kIndent, base::visible(frame));
    }
  }
  return out;
}

std::string sums(const PageOwnerReport& report, const TextStyle& style) {
  const model::PageOwnerTotals& totals = report.totals;
  std::string text =
      fmt::format("{} in {}, {}", size_of(report, totals.pages, style),
                  base::counted(totals.pages, "page", "pages"),
                  base::counted(totals.records, "block", "blocks"));
  const std::pair<uint64_t, std::string_view> parts[] = {
      {totals.slab_pages, "of slabs"},
      {totals.charged_pages, "charged to groups"},
      {totals.migrated_pages, "moved since taken"},
      {totals.early_pages, "from before page_owner was ready"},
      {totals.nested_pages + totals.failed_pages, "whose stack is not known"},
  };
  std::string_view separator = ": ";
  for (const auto& [pages, what] : parts) {
    if (pages == 0) continue;
    text +=
        fmt::format("{}{} {}", separator, size_of(report, pages, style), what);
    separator = ", ";
  }
  return wrapped(style, Ink::Plain, 0, text);
}

std::string remarks(const PageOwnerReport& report, const TextStyle& style) {
  std::string out;
  const auto say = [&](Ink ink, const std::string& text) {
    out += wrapped(style, ink, 0, text);
  };
  if (report.folded_count > 0) {
    say(Ink::Dim,
        fmt::format(
            "{} in {}", size_of(report, report.folded_pages, style),
            base::counted(report.folded_count, "more group", "more groups")));
  }
  out += sums(report, style);
  if (report.unselected_records > 0) {
    say(Ink::Dim, fmt::format("{} in {} not selected",
                              size_of(report, report.unselected_pages, style),
                              base::counted(report.unselected_records, "block",
                                            "blocks")));
  }
  if (report.totals.broken_records > 0) {
    say(Ink::Warn, fmt::format("{} cut off or unreadable, left out",
                               base::counted(report.totals.broken_records,
                                             "record", "records")));
  }
  if (report.totals.stray_lines > 0) {
    say(Ink::Dim,
        fmt::format("{} of no record",
                    base::counted(report.totals.stray_lines, "line", "lines")));
  }
  for (const std::string& note : report.notes)
    say(Ink::Dim, base::visible(note));
  return out;
}

}  // namespace

std::string page_owner_text(const PageOwnerReport& report,
                            const TextStyle& style) {
  std::string out = report.group_by.by_stack ? rows_with_stacks(report, style)
                                             : rows_table(report, style);
  if (!out.empty()) out += "\n";
  return out + remarks(report, style);
}

}  // namespace tidemark::view
