#include "view/text/trace_modules.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::BeforeRow;
using analysis::ModuleRow;
using analysis::ModuleTable;

constexpr size_t kMostBefore = 8;  // rows of each kind, beside the table

class Cells {
 public:
  Cells(const model::Trace& trace, bool in_pages, const TextStyle& style)
      : page_bytes_(trace.page_size_bytes),
        in_pages_(in_pages),
        mark_(trace.is_exact() ? "" : "~"),
        style_(style) {}

  // Of what was traced.
  std::string pages(uint64_t count) const {
    return mark_ + (in_pages_
                        ? base::grouped(count)
                        : base::short_size(count * page_bytes_, style_.unit));
  }
  std::string bytes(uint64_t count) const {
    return in_pages_ ? base::grouped((count + page_bytes_ - 1) / page_bytes_)
                     : base::short_size(count, style_.unit);
  }
  std::string peak(const analysis::TraceNumbers& numbers) const {
    std::string text = pages(numbers.peak_pages);
    if (numbers.is_peak_exact()) return text;
    return (style_.utf8 ? "≤" : "<=") + text;
  }
  std::string image(const ModuleRow& row) const {
    return row.image_bytes ? bytes(*row.image_bytes) : "?";
  }

 private:
  uint64_t page_bytes_;
  bool in_pages_;
  std::string mark_;
  const TextStyle& style_;
};

std::string name_of(const ModuleRow& row) {
  std::string name = base::visible(row.name);
  if (row.was_loaded && row.was_unloaded) return name + " (came and went)";
  if (row.was_loaded) return name + " (loaded since)";
  if (row.was_unloaded) return name + " (unloaded since)";
  return name;
}

void add_row(const ModuleRow& row, const Cells& cells, bool has_peaks,
             Table& table) {
  std::vector<Cell> line = {
      {cells.image(row)},
      {cells.pages(row.loading_pages)},
      {cells.pages(row.later_pages)},
      {cells.pages(row.cache_pages)},
      {cells.pages(row.slab_pages)},
      {cells.pages(row.total.pages), Ink::Bold},
  };
  if (has_peaks) line.push_back({cells.peak(row.total)});
  line.push_back({name_of(row), Ink::Bold});
  table.add_row(std::move(line));
}

std::string before_text(const char* title,
                        const model::Reading<std::vector<BeforeRow>>& rows,
                        const char* nameless, const Cells& cells,
                        const TextStyle& style) {
  if (!rows) {
    return wrapped(style, Ink::Dim, 2,
                   fmt::format("{}: {}", title, rows.unknown_because));
  }
  if (rows->empty()) return {};
  std::string text = fmt::format("  {}\n", title);
  Table table({{""}, {"", Align::Left}});
  for (const BeforeRow& row : *rows) {
    if (&row - rows->data() == kMostBefore) break;
    table.add_row({{cells.bytes(row.bytes)},
                   {row.name.empty() ? nameless : base::visible(row.name)}});
  }
  return text + table.render_bare(style, 4);
}

}  // namespace

std::string trace_modules_text(const ModuleTable& table,
                               const model::Trace& trace, bool in_pages,
                               const TextStyle& style) {
  const Cells cells(trace, in_pages, style);
  std::string text;
  if (table.rows.empty()) {
    text = "no code of a module took pages";
    if (!table.before_image_bytes) {
      text += ": " + table.before_image_bytes.unknown_because;
    }
    text += "\n";
  } else {
    std::vector<Column> columns = {{"IMAGE"}, {"LOADING"}, {"LATER"},
                                   {"CACHE"}, {"SLAB"},    {"NOW"}};
    if (trace.has_peaks) columns.push_back({"PEAK"});
    columns.push_back({"MODULE", Align::Left});
    Table rows(std::move(columns));
    for (const ModuleRow& row : table.rows)
      add_row(row, cells, trace.has_peaks, rows);
    text = rows.render(style, false);
  }
  if (!trace.before) return text;
  text += "\nbefore the trace, and no part of it\n";
  if (table.before_image_bytes) {
    text += fmt::format("  {} in images of modules\n",
                        cells.bytes(*table.before_image_bytes));
  }
  text += before_text("by page_owner", table.before_pages, "the kernel", cells,
                      style);
  text += before_text("by line of code", table.before_code, "?", cells, style);
  text += before_text("in slab caches", table.before_slab, "?", cells, style);
  text += before_text("in vmalloc areas, by caller", table.before_vmalloc, "?",
                      cells, style);
  return text;
}

}  // namespace tidemark::view
