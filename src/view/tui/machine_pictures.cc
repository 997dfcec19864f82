#include "view/tui/machine_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/units.h"
#include "view/tui/numbers.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopHistory;
using analysis::TopMachine;
using analysis::TopSnapshot;
using model::Category;

// What is in the picture, from the foot up: free is the paper above it.
constexpr Category kStacked[] = {
    Category::Heap,    Category::Anon, Category::Stack, Category::Shm,
    Category::File,    Category::Code, Category::Huge,  Category::Swap,
    Category::Slab,    Category::Ptab, Category::Kern,  Category::Wired,
    Category::Unnamed,
};

// Names of bands beside the picture, where it is so wide.
constexpr int kBandNamesColumns = 22;
constexpr int kLegendFrom = 100;

struct Grower {
  std::string name;
  int64_t bytes = 0;
};

std::vector<Grower> growers(const Scene& scene, size_t limit) {
  const TopSnapshot& snapshot = *scene.snapshot;
  std::vector<Grower> found;
  if (!snapshot.history) return found;
  for (const model::Process& process : snapshot.sample.processes) {
    if (scene.choice != nullptr && !scene.choice->has(process.id.pid)) continue;
    const analysis::TopSeries* series = snapshot.history->of(process.id);
    if (series == nullptr) continue;
    std::optional<uint64_t> first;
    std::optional<uint64_t> last;
    for (const std::optional<uint64_t>& value : *series) {
      if (value && !first) first = value;
      if (value) last = value;
    }
    if (!first || *last <= *first) continue;
    found.push_back({analysis::display_name(process),
                     static_cast<int64_t>(*last - *first)});
  }
  std::ranges::sort(found, std::ranges::greater(), &Grower::bytes);
  found.resize(std::min(found.size(), limit));
  return found;
}

// One column for each stretch of the last ten minutes, the last reading in it.
std::vector<StackColumn> history_columns(const TopHistory& history,
                                         int columns) {
  std::vector<StackColumn> out(static_cast<size_t>(std::max(columns, 0)));
  if (history.times_ns.empty() || out.empty()) return out;
  const uint64_t end = history.times_ns.back();
  for (size_t i = 0; i < history.times_ns.size(); ++i) {
    const uint64_t age = end - history.times_ns[i];
    if (age > analysis::kTopHistoryNs || !history.machine[i]) continue;
    const auto back =
        static_cast<size_t>(static_cast<double>(age) /
                            static_cast<double>(analysis::kTopHistoryNs) *
                            static_cast<double>(out.size()));
    StackColumn& column = out[out.size() - 1 - std::min(back, out.size() - 1)];
    column.parts.clear();
    for (Category kind : kStacked) {
      column.parts.push_back(static_cast<uint64_t>(
          std::max<int64_t>(bytes_of(*history.machine[i], kind), 0)));
    }
  }
  // Columns between two readings have the one before: there are more of them
  // than readings on a wide screen.
  for (size_t i = 1; i < out.size(); ++i) {
    if (out[i].parts.empty()) out[i].parts = out[i - 1].parts;
  }
  return out;
}

// Each name at the middle of its band as it is now, or as near above the one
// below as there is a row. What has less than half a row is left out.
void draw_bands_legend(Canvas& canvas, const Scene& scene,
                       const PictureBox& picture) {
  const TopMachine& machine = *scene.snapshot->machine;
  const auto total = static_cast<double>(machine.total_bytes);
  const int column = picture.column + picture.columns + 1;
  const auto put = [&](Category kind, int row) {
    canvas.set(column, row, band_glyph(scene.look, kind), paint(role_of(kind)));
    canvas.put_within(column + 2, row, kBandNamesColumns - 3,
                      kind == Category::Code ? "program, libraries"
                                             : model::category_name(kind),
                      paint(Role::Plain));
  };
  double below = 0;
  int free_row = picture.row + picture.rows - 1;
  for (Category kind : kStacked) {
    const auto bytes =
        static_cast<double>(std::max<int64_t>(bytes_of(machine, kind), 0));
    const double rows = bytes / total * picture.rows;
    const double middle = below + rows / 2;
    below += rows;
    if (rows < 0.5) continue;
    const int wanted =
        picture.row + picture.rows - 1 - static_cast<int>(middle);
    const int row = std::min(wanted, free_row);
    if (row <= picture.row) break;
    free_row = row - 1;
    put(kind, row);
  }
  put(Category::Free, picture.row);
}

std::string share_words(std::optional<uint64_t> millionths) {
  if (!millionths) return "?";
  return fmt::format("{:.1f} %", static_cast<double>(*millionths) / 10'000.0);
}

std::string stall_words(const TopHistory& history) {
  const auto last = [](const analysis::TopSeries& series) {
    return series.empty() ? std::nullopt : series.back();
  };
  return "some " + share_words(last(history.stalled_some)) + " full " +
         share_words(last(history.stalled_full));
}

void draw_ten_minutes(Canvas& canvas, int column, int row, int columns) {
  canvas.put(column, row, "-10 min", paint(Role::Dim));
  canvas.put_right(column + columns, row, "now", paint(Role::Dim));
}

}  // namespace

std::string span_words(const TopSnapshot& snapshot) {
  const uint64_t seconds =
      snapshot.history ? snapshot.history->span_ns() / 1'000'000'000 : 0;
  return seconds >= 60 ? std::to_string(seconds / 60) + " min"
                       : std::to_string(seconds) + " s";
}

std::optional<int64_t> growth_of(const TopSnapshot& snapshot, Category kind) {
  if (!snapshot.machine || !snapshot.history) return std::nullopt;
  for (const std::optional<TopMachine>& machine : snapshot.history->machine) {
    if (machine)
      return bytes_of(*snapshot.machine, kind) - bytes_of(*machine, kind);
  }
  return std::nullopt;
}

void draw_machine_history(Canvas& canvas, const Scene& scene,
                          const PictureBox& box) {
  const TopSnapshot& snapshot = *scene.snapshot;
  const std::string total = base::short_size(snapshot.machine->total_bytes);
  const bool is_wide = box.columns >= kLegendFrom;
  canvas.put(box.column, box.row, "In use, last 10 min", paint(Role::Dim));
  if (is_wide) {
    canvas.put_right(box.column + box.columns, box.row,
                     "counters each second, closing to " + total,
                     paint(Role::Dim));
  }
  const PictureBox picture = {
      box.column + 5, box.row + 1,
      box.columns - 5 - (is_wide ? kBandNamesColumns : 0), box.rows - 2};
  if (picture.rows < 2 || !snapshot.history) return;
  const auto put_scale = [&](int row, const std::string& words) {
    canvas.put_right(picture.column - 1, row, words, paint(Role::Dim));
  };
  put_scale(picture.row, total);
  if (picture.rows >= 8) {
    put_scale(picture.row + (picture.rows - 1) / 2,
              base::short_size(snapshot.machine->total_bytes / 2));
  }
  put_scale(picture.row + picture.rows - 1, "0");
  draw_stack(canvas, scene.look, picture, kStacked,
             history_columns(*snapshot.history, picture.columns),
             snapshot.machine->total_bytes);
  if (is_wide) draw_bands_legend(canvas, scene, picture);
  draw_ten_minutes(canvas, picture.column, picture.row + picture.rows,
                   picture.columns);
}

void draw_stalls(Canvas& canvas, const Scene& scene, const PictureBox& box) {
  const TopSnapshot& snapshot = *scene.snapshot;
  canvas.put_within(box.column, box.row, box.columns, "Stalled for memory",
                    paint(Role::Dim));
  if (!snapshot.history || box.rows < 3) return;
  const TopHistory& history = *snapshot.history;
  // From 0 to a full scale of at least 1 %: noise must not look like a storm.
  uint64_t top = 10'000;
  for (const std::optional<uint64_t>& value : history.stalled_some)
    top = std::max(top, value.value_or(0));
  const std::vector<std::u32string> lines = tall_trend(
      scene.look, history.stalled_some, top, static_cast<size_t>(box.columns),
      static_cast<size_t>(box.rows - 2));
  for (size_t y = 0; y < lines.size(); ++y) {
    for (size_t x = 0; x < lines[y].size(); ++x) {
      canvas.set(box.column + static_cast<int>(x),
                 box.row + 1 + static_cast<int>(y), lines[y][x],
                 paint(Role::Growth));
    }
  }
  const int last_row = box.row + box.rows - 1;
  // Beside the title where both have room, since numbers are never cut.
  if (box.columns < 42) {
    canvas.put(box.column, last_row, stall_words(history), paint(Role::Plain));
    return;
  }
  canvas.put_right(box.column + box.columns, box.row, stall_words(history),
                   paint(Role::Plain));
  draw_ten_minutes(canvas, box.column, last_row, box.columns);
}

void draw_growing(Canvas& canvas, const Scene& scene, const PictureBox& box) {
  canvas.put_within(box.column, box.row, box.columns,
                    "Growing, " + span_words(*scene.snapshot),
                    paint(Role::Dim));
  int row = box.row + 1;
  for (const Grower& grower :
       growers(scene, static_cast<size_t>(std::max(box.rows - 1, 0)))) {
    canvas.put_within(box.column, row, box.columns - 8,
                      base::visible(grower.name), paint(Role::Plain));
    put_growth(canvas, box.column + box.columns, row, grower.bytes);
    ++row;
  }
  if (row == box.row + 1) canvas.put(box.column, row, "none", paint(Role::Dim));
}

void draw_residue(Canvas& canvas, const Scene& scene, int column, int row,
                  int columns) {
  const TopMachine& machine = *scene.snapshot->machine;
  const int64_t bytes = bytes_of(machine, Category::Unnamed);
  const std::optional<int64_t> growth =
      growth_of(*scene.snapshot, Category::Unnamed);
  // A thousandth of RAM comes and goes while counters are read.
  const bool is_steady =
      growth && static_cast<uint64_t>(std::abs(*growth)) <
                    std::max<uint64_t>(machine.total_bytes / 1000, 1);
  std::string words = fmt::format(
      "unnamed {}, {:.1f} % of RAM, ", signed_size(bytes).substr(bytes > 0),
      static_cast<double>(bytes) * 100.0 /
          static_cast<double>(std::max<uint64_t>(machine.total_bytes, 1)));
  words += !growth ? "?"
           : is_steady
               ? "steady"
               : signed_size(growth) + " in " + span_words(*scene.snapshot);
  words += ": pages that no counter explains";
  canvas.put_within(column, row, columns, words, paint(Role::Dim));
}

}  // namespace tidemark::view::tui
