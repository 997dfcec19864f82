#include "view/tui/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/escape.h"
#include "base/units.h"
#include "view/tui/numbers.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopSnapshot;
using model::Category;

constexpr int kWide = 132;

int width(std::string_view text) {
  return static_cast<int>(base::display_width(text));
}

std::string clock_words(const TopSnapshot& snapshot) {
  if (!snapshot.playback) {
    return time_of_day(snapshot.sample.started_realtime_ns);
  }
  return "at " + base::clock_duration(snapshot.playback->elapsed_ns) + " of " +
         base::clock_duration(snapshot.playback->end_ns);
}

void draw_first_row(Canvas& canvas, const Scene& scene, const Frame& frame) {
  const TopSnapshot& snapshot = *scene.snapshot;
  const int columns = canvas.columns();
  const std::string clock = clock_words(snapshot);
  int right = columns - 1 - width(clock);
  canvas.put_right(columns - 1, 0, clock, paint(Role::Plain));
  const int left = canvas.put(1, 0, "tidemark", paint(Role::Strong)) + 2;
  int bar_cells = columns >= kWide ? 56 : 24;
  if (frame.has_ledger_line && snapshot.machine && columns >= 60) {
    const analysis::TopMachine& machine = *snapshot.machine;
    const int64_t free = machine.kinds[static_cast<size_t>(Category::Free)];
    const std::string used =
        base::short_size(
            machine.total_bytes -
            std::min(machine.total_bytes,
                     static_cast<uint64_t>(std::max<int64_t>(free, 0)))) +
        " of " + base::short_size(machine.total_bytes);
    right -= 5 + width(used);
    canvas.put(right, 0, used, paint(Role::Plain));
    if (columns < 80 || (snapshot.playback && columns < kWide)) bar_cells = 8;
    right -= bar_cells + 1;
    draw_ledger_bar(canvas, scene.look, machine, right, 0, bar_cells);
  }
  canvas.put_within(left, 0, right - left - 1, base::visible(snapshot.target),
                    paint(Role::Plain));
}

struct PlacedTab {
  const Tab* tab;
  int begin;
  int end;
};

// With room, brackets have their place also where there are none, so that tabs
// do not jump. Without, only the active one has its name.
std::vector<PlacedTab> place_tabs(const std::vector<Tab>& tabs, int columns,
                                  bool has_names) {
  std::vector<PlacedTab> placed;
  const bool is_roomy = columns >= kWide;
  int column = 1;
  for (const Tab& tab : tabs) {
    const int text = has_names || tab.is_active ? 2 + width(tab.name) : 1;
    const int end = column + text + (is_roomy || tab.is_active ? 2 : 0);
    placed.push_back({&tab, column, end});
    column = end + 1;
  }
  return placed;
}

// What of the second row is for the state at its right end.
constexpr int kStateColumns = 12;

bool has_tab_names(const std::vector<Tab>& tabs, int columns) {
  const std::vector<PlacedTab> placed = place_tabs(tabs, columns, true);
  return columns >= 60 &&
         (placed.empty() || placed.back().end + kStateColumns <= columns);
}

void draw_tabs(Canvas& canvas, const Look& look, const Frame& frame) {
  const int columns = canvas.columns();
  const bool has_names = has_tab_names(frame.tabs, columns);
  for (const PlacedTab& placed : place_tabs(frame.tabs, columns, has_names)) {
    const Tab& tab = *placed.tab;
    std::string text;
    base::append_utf8(text, tab.number);
    if (has_names || tab.is_active) text += " " + std::string(tab.name);
    Paint ink = paint(tab.is_active ? Role::Strong : Role::Dim);
    if (tab.is_active && !look.has_color()) text.insert(0, "[").append("]");
    if (tab.is_active && look.has_color()) {
      ink.is_reversed = true;
      text.insert(0, " ").append(" ");
    }
    const bool is_inset = !tab.is_active && columns >= kWide;
    canvas.put(placed.begin + (is_inset ? 1 : 0), 1, text, ink);
  }
  canvas.put_right(columns - 1, 1, frame.state, paint(Role::Plain));
}

std::string own_cost(const TopSnapshot& snapshot) {
  std::string words = "self";
  if (snapshot.own_cpu_millionths) {
    words += fmt::format(
        " {:.1f} % cpu",
        static_cast<double>(*snapshot.own_cpu_millionths) / 10'000.0);
  }
  if (snapshot.own_bytes) words += " " + base::short_size(*snapshot.own_bytes);
  return words == "self" ? "" : words;
}

void draw_status(Canvas& canvas, const Scene& scene, const Frame& frame) {
  const int row = canvas.rows() - 2;
  const std::string cost =
      frame.status_end.empty() ? own_cost(*scene.snapshot) : frame.status_end;
  const bool has_cost = canvas.columns() >= 60 && !cost.empty();
  const int right = canvas.columns() - 1 - (has_cost ? width(cost) + 1 : 0);
  canvas.put_within(1, row, right - 1, frame.status,
                    paint(frame.is_message ? Role::Strong : Role::Dim));
  if (has_cost)
    canvas.put_right(canvas.columns() - 1, row, cost, paint(Role::Dim));
}

int put_hint(Canvas& canvas, int column, int row, const KeyHint& hint) {
  column = canvas.put(column, row, hint.keys, paint(Role::Strong));
  return canvas.put(column + 1, row, hint.does, paint(Role::Dim));
}

int hint_width(const KeyHint& hint) {
  return width(hint.keys) + 1 + width(hint.does);
}

void draw_hints(Canvas& canvas, const Frame& frame) {
  constexpr KeyHint kHelp = {"?", "help"};
  constexpr KeyHint kQuit = {"q", "quit"};
  const int row = canvas.rows() - 1;
  const int end =
      canvas.columns() - 1 - hint_width(kHelp) - 2 - hint_width(kQuit);
  int column = 1;
  for (const KeyHint& hint : frame.hints) {
    if (column + hint_width(hint) + 3 > end) break;
    column = put_hint(canvas, column, row, hint) + 2;
  }
  const int next = put_hint(canvas, std::max(end, 1), row, kHelp) + 2;
  put_hint(canvas, next, row, kQuit);
}

}  // namespace

Area view_area(int rows) {
  return {3, std::max(rows - 5, 0)};
}

void draw_rule(Canvas& canvas, int row) {
  canvas.fill_row(row, U'─', paint(Role::Dim));
}

void draw_ledger_bar(Canvas& canvas, const Look& look,
                     const analysis::TopMachine& machine, int column, int row,
                     int cells) {
  if (cells <= 0) return;
  std::array<uint64_t, model::kCategoryCount> parts{};
  // Free is the paper at the end, what is unnamed stands before it.
  std::array<Category, model::kCategoryCount> order = model::kCategories;
  std::swap(order[model::kCategoryCount - 1], order[model::kCategoryCount - 2]);
  for (size_t i = 0; i < order.size(); ++i) {
    parts[i] = static_cast<uint64_t>(
        std::max<int64_t>(machine.kinds[static_cast<size_t>(order[i])], 0));
  }
  const std::vector<size_t> shares =
      share_cells(parts, machine.total_bytes, static_cast<size_t>(cells));
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t k = 0; k < shares[i]; ++k) {
      canvas.set(column++, row, band_glyph(look, order[i]),
                 paint(role_of(order[i])));
    }
  }
}

char32_t tab_at(const std::vector<Tab>& tabs, int columns, int column) {
  for (const PlacedTab& placed :
       place_tabs(tabs, columns, has_tab_names(tabs, columns))) {
    if (column >= placed.begin && column < placed.end)
      return placed.tab->number;
  }
  return 0;
}

void draw_frame(Canvas& canvas, const Scene& scene, const Frame& frame) {
  draw_first_row(canvas, scene, frame);
  draw_tabs(canvas, scene.look, frame);
  draw_rule(canvas, 2);
  draw_status(canvas, scene, frame);
  draw_hints(canvas, frame);
}

}  // namespace tidemark::view::tui
