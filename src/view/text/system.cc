#include "view/text/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "base/escape.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::SystemColumn;
using analysis::SystemReport;
using analysis::SystemTerm;
using analysis::SystemValue;
using Group = SystemLayout::Group;

// "16.0G", and as wide where it is larger.
constexpr size_t kCellWidth = 5;
constexpr size_t kSignedWidth = 6;
constexpr size_t kTimeWidth = 12;

// Not every machine has these; the others always have a column.
constexpr SystemColumn kSeldom[] = {
    SystemColumn::FreeUninitialised, SystemColumn::HugeTlb,
    SystemColumn::Compressed, SystemColumn::Balloon};

// What goes together first when the screen is narrow.
struct Fold {
  std::string_view head;
  std::vector<SystemColumn> columns;
};
const std::vector<Fold>& folds() {
  using enum SystemColumn;
  static const std::vector<Fold> kFolds = {
      {"KERN", {Stacks, Vmalloc, PerCpu}},
      {"FREE", {Free, FreePerCpu, FreeUninitialised}},
      {"KERN", {Stacks, Vmalloc, PerCpu, Sockets}},
      {"SLAB", {SlabUsed, SlabSlack}},
      {"KERN", {PageTables, Stacks, Vmalloc, PerCpu, Sockets}},
      {"POOL", {Compressed, HugeTlb, Balloon}},
      {"CACHE", {File, Shmem}},
  };
  return kFolds;
}

size_t cell_width(const Group& group) {
  return std::max(kCellWidth, group.head.size());
}

size_t layout_width(const SystemLayout& layout) {
  size_t width = (layout.with_time ? kTimeWidth + 1 : 0) + kCellWidth;
  for (const Group& group : layout.groups)
    width += 1 + cell_width(group);
  return width + 2 * (1 + kSignedWidth);
}

bool holds(const SystemLayout& layout, SystemColumn column) {
  return std::ranges::any_of(layout.groups, [&](const Group& group) {
    return std::ranges::find(group.columns, column) != group.columns.end();
  });
}

// Moves the columns of the fold into one group, where its first one was.
void apply(const Fold& fold, SystemLayout& layout) {
  Group together{std::string(fold.head), {}};
  std::optional<size_t> place;
  for (size_t i = 0; i < layout.groups.size();) {
    Group& group = layout.groups[i];
    const bool is_in = std::ranges::any_of(group.columns, [&](SystemColumn c) {
      return std::ranges::find(fold.columns, c) != fold.columns.end();
    });
    if (!is_in) {
      ++i;
      continue;
    }
    if (!place) place = i;
    together.columns.insert(together.columns.end(), group.columns.begin(),
                            group.columns.end());
    layout.groups.erase(layout.groups.begin() + static_cast<ptrdiff_t>(i));
  }
  if (together.columns.size() == 1) {
    together.head = analysis::system_column_name(together.columns.front()).head;
  }
  if (place) {
    layout.groups.insert(layout.groups.begin() + static_cast<ptrdiff_t>(*place),
                         std::move(together));
  }
}

// What these hold is then in the column they are summed up with.
bool is_in_neighbour(SystemColumn column) {
  return column == SystemColumn::SlabSlack ||
         column == SystemColumn::FreeUninitialised;
}

// A sum with an unknown part is a lower bound; of nothing known, unknown.
std::string cell(const SystemReport& report, const Group& group,
                 const TextStyle& style) {
  int64_t sum = 0;
  bool has_known = false;
  bool is_lower_bound = false;
  for (SystemColumn column : group.columns) {
    const model::Reading<int64_t>& bytes = report.at(column).bytes;
    has_known = has_known || bytes;
    sum += bytes.value.value_or(0);
    is_lower_bound = is_lower_bound || (!bytes && !is_in_neighbour(column));
  }
  if (!has_known) return "?";
  if (is_lower_bound && sum >= 0) {
    return dense(style, model::Amount{static_cast<uint64_t>(sum), true, true});
  }
  return dense_signed(style, sum);
}

std::string padded(std::string_view text, size_t width) {
  const size_t used = base::display_width(text);
  return " " + std::string(width > used ? width - used : 0, ' ') +
         std::string(text);
}

std::string with_sign(const TextStyle& style, int64_t bytes) {
  return (bytes > 0 ? "+" : "") + dense_signed(style, bytes);
}

// Of MemTotal, signed and with two decimals: the residue is meant to be small.
std::string share(int64_t part, uint64_t whole) {
  if (whole == 0) return "?";
  return fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) /
                                     static_cast<double>(whole));
}

// "Cached 4.91G - Shmem 12.5M (meminfo)": a file stands behind the last figure
// that is from it.
std::string formula(const SystemValue& value, const TextStyle& style) {
  std::string text;
  for (size_t i = 0; i < value.terms.size(); ++i) {
    const SystemTerm& term = value.terms[i];
    // The sign stands in the name: "- Shmem".
    const bool is_minus = term.what.starts_with("- ");
    if (i > 0) text += is_minus ? " - " : " + ";
    const uint64_t magnitude = term.bytes < 0
                                   ? -static_cast<uint64_t>(term.bytes)
                                   : static_cast<uint64_t>(term.bytes);
    text += fmt::format("{} {}", term.what.substr(is_minus ? 2 : 0),
                        base::short_size(magnitude, style.unit));
    const bool is_last_of_file =
        i + 1 == value.terms.size() || value.terms[i + 1].file != term.file;
    if (is_last_of_file) text += fmt::format(" ({})", term.file);
  }
  return text;
}

void add_explained(std::string& out, std::string_view head,
                   std::string_view bytes, std::string_view meaning) {
  out += fmt::format("{:<8}{:>6}  {}\n", head, bytes, meaning);
}

void add_column(std::string& out, const SystemReport& report,
                SystemColumn column, const TextStyle& style) {
  constexpr size_t kFormulaIndent = 16;
  const SystemValue& value = report.at(column);
  const analysis::SystemColumnName& name = analysis::system_column_name(column);
  add_explained(out, name.head, dense_signed(style, value.bytes.value),
                name.meaning);
  const std::string below =
      value.bytes ? "= " + formula(value, style)
                  : "unknown: " + base::visible(value.bytes.unknown_because);
  out +=
      wrapped(style, value.bytes ? Ink::Dim : Ink::Warn, kFormulaIndent, below);
  if (!value.remark.empty())
    out += wrapped(style, Ink::Dim, kFormulaIndent, value.remark);
}

void add_other(std::string& out, const SystemReport& report,
               const TextStyle& style) {
  add_explained(out, "OTHER", dense_signed(style, report.other_bytes),
                "total - all of the above: " +
                    share(report.other_bytes, report.mem_total_bytes) +
                    " of MemTotal");
  out += wrapped(
      style, Ink::Dim, 16,
      report.other_bytes < 0
          ? "negative: something is counted twice, or memory moved between the "
            "readings of two files"
          : "pages of drivers, pipes, the kernel's own page tables: the kernel "
            "counts them nowhere");
}

}  // namespace

SystemLayout system_layout(const SystemReport& report,
                           const SystemLayout& before, bool with_time,
                           const TextStyle& style) {
  SystemLayout layout;
  layout.with_time = with_time;
  for (size_t i = 0; i < analysis::kSystemColumnCount; ++i) {
    const auto column = static_cast<SystemColumn>(i);
    const bool is_seldom =
        std::ranges::find(kSeldom, column) != std::end(kSeldom);
    if (is_seldom && report.at(column).bytes.value.value_or(0) == 0 &&
        !holds(before, column)) {
      continue;
    }
    layout.groups.push_back(
        {std::string(analysis::system_column_name(column).head), {column}});
  }
  for (const Fold& fold : folds()) {
    if (style.wide || layout_width(layout) <= style.width) break;
    apply(fold, layout);
  }
  return layout;
}

std::string system_head(const SystemLayout& layout, const TextStyle& style) {
  std::string line = layout.with_time ? fmt::format("{:<12} ", "TIME") : "";
  line += fmt::format("{:>5}", "TOTAL");
  for (const Group& group : layout.groups)
    line += padded(group.head, cell_width(group));
  line += padded("OTHER", kSignedWidth) + padded("DRIFT", kSignedWidth);
  return paint(style, Ink::Dim, line) + "\n";
}

std::string system_line(const SystemReport& report, const SystemLayout& layout,
                        const TextStyle& style) {
  // HH:MM:SS.mmm of "2026-11-15T08:09:03.000000000Z".
  std::string line =
      layout.with_time ? base::rfc3339(report.realtime_ns).substr(11, 12) + " "
                       : "";
  const std::string total = dense(style, report.total_bytes);
  line += padded(total, kCellWidth).substr(1);
  for (const Group& group : layout.groups) {
    line += padded(cell(report, group, style), cell_width(group));
  }
  const std::string other =
      padded(dense_signed(style, report.other_bytes), kSignedWidth);
  line += report.other_bytes < 0 ? paint(style, Ink::Warn, other) : other;
  line += padded(with_sign(style, report.other_change_bytes), kSignedWidth);
  return line + "\n";
}

std::string system_explanation(const SystemReport& report,
                               const TextStyle& style) {
  std::string out;
  add_explained(out, "TOTAL", dense(style, report.total_bytes),
                report.total_source);
  for (size_t i = 0; i < analysis::kSystemColumnCount; ++i)
    add_column(out, report, static_cast<SystemColumn>(i), style);
  add_other(out, report, style);
  return out;
}

std::string system_explanation_of(const SystemReport& report,
                                  model::Category kind,
                                  const TextStyle& style) {
  std::string out;
  for (size_t i = 0; i < analysis::kSystemColumnCount; ++i) {
    const auto column = static_cast<SystemColumn>(i);
    if (analysis::system_column_category(column) == kind)
      add_column(out, report, column, style);
  }
  if (kind == model::Category::Unnamed) add_other(out, report, style);
  return out;
}

}  // namespace tidemark::view
