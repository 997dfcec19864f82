#include "view/tui/trace_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/escape.h"
#include "base/units.h"
#include "view/tui/numbers.h"

namespace tidemark::view::tui {
namespace {

using analysis::OutlineNode;
using analysis::TraceGroup;
using model::Category;

constexpr int kWideColumns = 132;

// A module has its own colour wherever it stands; there are as many as kinds of
// memory that can be told apart.
Role module_role(const std::string& module) {
  constexpr std::array kColors = {
      Category::Shm,  Category::Slab, Category::Code, Category::Anon,
      Category::Huge, Category::Ptab, Category::File, Category::Swap};
  return role_of(
      kColors[std::hash<std::string>{}(module) % std::size(kColors)]);
}

std::string group_words(TraceGroup group, bool has_programs) {
  switch (group) {
    case TraceGroup::Task:
      return "TASK";
    case TraceGroup::Cgroup:
      return "CONTROL GROUP";
    default:
      return has_programs ? "IMAGE" : "MODULE";
  }
}

std::vector<std::optional<uint64_t>> optional_values(
    const std::vector<uint64_t>& values) {
  return {values.begin(), values.end()};
}

void put_picture(Canvas& canvas, int column, int row,
                 const std::u32string& picture) {
  for (char32_t glyph : picture)
    canvas.set(column++, row, glyph, paint(Role::Dim));
}

}  // namespace

TraceLayout trace_layout(int columns) {
  TraceLayout layout;
  if (columns >= kWideColumns) {
    layout = {columns - 51, columns - 41, columns - 30, columns - 20,
              columns - 19, 18,           columns - 60};
    return layout;
  }
  if (columns >= 80) {
    layout = {columns - 35, columns - 27, columns - 18,
              columns - 10, columns - 9,  8,
              columns - 43};
    return layout;
  }
  layout.rate = columns - 1;
  layout.peak = columns >= 60 ? columns - 9 : 0;
  layout.held = columns >= 60 ? columns - 18 : columns - 9;
  layout.name_end = layout.held - 7;
  return layout;
}

TraceColumn head_at(int column, int columns) {
  const TraceLayout layout = trace_layout(columns);
  if (column < layout.name_end) return TraceColumn::Name;
  if (column < layout.held) return TraceColumn::Held;
  if (column < layout.peak) return TraceColumn::Peak;
  return TraceColumn::Rate;
}

void TraceTable::draw_sums(int at) const {
  const model::Trace& trace = *trace_.trace;
  int column = 1;
  const auto put = [&](std::string_view words, const std::string& value,
                       Role role) {
    const int width = static_cast<int>(base::display_width(words) + 1 +
                                       base::display_width(value));
    if (column + width >= canvas_.columns()) return;
    column = canvas_.put(column, at, words, paint(Role::Dim)) + 1;
    column = canvas_.put(column, at, value, paint(role)) + 2;
  };
  const std::string held =
      base::short_size(trace.pages * trace.page_size_bytes);
  put("held",
      trace_.chosen_pages
          ? base::short_size(*trace_.chosen_pages * trace.page_size_bytes) +
                " of " + held
          : held,
      Role::Strong);
  put("peak",
      trace.has_peaks
          ? base::short_size(trace.peak_pages * trace.page_size_bytes)
          : "?",
      trace.has_peaks ? Role::Strong : Role::Unknown);
  // Mostly of one page and put right later: what was missed on top of our own
  // programs stands apart.
  const uint64_t lost = trace.faults.lost_events + trace.faults.table_full +
                        trace.faults.out_of_range;
  put("lost", base::grouped(lost), lost > 0 ? Role::Unknown : Role::Strong);
  put("untracked frees", base::grouped(trace.faults.untracked_freed),
      Role::Strong);
  if (trace.faults.missed_events > 0 && canvas_.columns() >= kWideColumns)
    put("missed", base::grouped(trace.faults.missed_events), Role::Unknown);
  std::string means(model::trace_backend_token(trace.backend));
  if (trace.sample_period > 1) {
    means += fmt::format(", 1 page in {}", trace.sample_period);
  } else if (trace.user) {
    means += ", a sample";  // of which there is none yet
  } else {
    means += trace.is_exact() ? ", exact" : ", not exact";
  }
  if (canvas_.columns() >= kWideColumns) means = "backend " + means;
  if (column + static_cast<int>(means.size()) < canvas_.columns())
    canvas_.put_right(canvas_.columns() - 1, at, means, paint(Role::Dim));
}

void TraceTable::draw_picture(int at, int rows) const {
  if (rows <= 0) return;
  const std::vector<uint64_t>& pages = trace_.history->total_pages;
  const std::vector<std::u32string> picture = tall_trend(
      look_, optional_values(pages), trace_.trace->peak_pages,
      static_cast<size_t>(canvas_.columns() - 2), static_cast<size_t>(rows));
  for (const std::u32string& line : picture)
    put_picture(canvas_, 1, at++, line);
}

void TraceTable::draw_head(int at) const {
  const auto ink = [&](TraceColumn column) {
    return paint(listing_.sort == column ? Role::Strong : Role::Dim);
  };
  const auto put = [&](int end, std::string_view words, TraceColumn column) {
    if (end > 0) canvas_.put_right(end, at, words, ink(column));
  };
  canvas_.put_within(
      1, at, layout_.name_end - 1,
      group_words(listing_.by, trace_.trace->user.has_value()) + " AND STACK",
      ink(TraceColumn::Name));
  const std::string_view held = listing_.measure == TraceMeasure::Now ? "HELD"
                                : listing_.measure == TraceMeasure::Peak
                                    ? "AT PEAK"
                                    : "GROWN";
  if (layout_.pages > 0)
    canvas_.put_right(layout_.pages, at, "PAGES", paint(Role::Dim));
  put(layout_.held, held, TraceColumn::Held);
  put(layout_.peak, "PEAK", TraceColumn::Peak);
  put(layout_.rate, "PAGES/S", TraceColumn::Rate);
  if (layout_.trend > 0)
    canvas_.put(layout_.trend, at, "TREND", paint(Role::Dim));
}

void TraceTable::draw_name(int at, const TraceRow& row) const {
  const OutlineNode& node = row.node;
  // However deep it is, something of its name can be read.
  constexpr int kLeastName = 24;
  const int column = 1 + std::clamp(static_cast<int>(row.indent), 0,
                                    std::max(layout_.name_end - kLeastName, 0));
  if (node.has_children)
    canvas_.put(column, at, row.is_open ? "▾" : "▸", paint(Role::Dim));
  Paint ink =
      paint(node.group == TraceGroup::Stack ? Role::Plain : Role::Strong);
  const std::string& module =
      node.group == TraceGroup::Module ? node.name : node.module;
  if (!module.empty() && look_.has_color()) ink.fore = module_role(module);
  canvas_.put_within(column + 2, at, layout_.name_end - column - 2,
                     row_name(node, trace_.trace->user.has_value()), ink);
}

void TraceTable::draw_numbers(int at, const TraceRow& row) const {
  const OutlineNode& node = row.node;
  const model::Trace& trace = *trace_.trace;
  const uint64_t pages = measured_pages(node, listing_.measure);
  if (layout_.pages > 0) {
    canvas_.put_right(layout_.pages, at, base::grouped(pages),
                      paint(Role::Plain));
  }
  canvas_.put_right(
      layout_.held, at, base::short_size(pages * trace.page_size_bytes),
      paint(node.group == TraceGroup::Stack ? Role::Plain : Role::Strong));
  if (layout_.peak > 0) {
    // Of what has parts that peak at their own times only a bound is known.
    const std::string bound = node.total.is_peak_exact() ? "" : "≤";
    canvas_.put_right(layout_.peak, at,
                      trace.has_peaks
                          ? bound + base::short_size(node.total.peak_pages *
                                                     trace.page_size_bytes)
                          : "?",
                      paint(trace.has_peaks ? Role::Plain : Role::Unknown));
  }
  const std::optional<int64_t> rate = pages_per_second(trace_, node);
  Role role = Role::Unknown;
  if (rate)
    role = *rate > 0 ? Role::Growth : *rate < 0 ? Role::Fall : Role::Dim;
  canvas_.put_right(
      layout_.rate, at,
      rate ? (*rate > 0   ? "+"
              : *rate < 0 ? "-"
                          : "") +
                 base::grouped(static_cast<uint64_t>(std::abs(*rate)))
           : "?",
      paint(role));
}

void TraceTable::draw_trend(int at, const TraceRow& row) const {
  if (layout_.trend == 0) return;
  put_picture(
      canvas_, layout_.trend, at,
      trend(look_, optional_values(trace_.by(listing_.by).series(row.node)),
            static_cast<size_t>(layout_.trend_cells)));
}

void TraceTable::draw_row(int at, const TraceRow& row, bool is_chosen) const {
  draw_name(at, row);
  draw_numbers(at, row);
  draw_trend(at, row);
  if (!is_chosen) return;
  const bool has_color = look_.has_color();
  if (has_color) canvas_.repaint_row(at, Role::Chosen);
  canvas_.set(0, at, has_color ? U'▌' : U'>', paint(Role::Strong));
}

}  // namespace tidemark::view::tui
