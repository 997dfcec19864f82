#include "view/tui/machine_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/text.h"
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

// "osm2pgsql · heap": kinds of one process that grow. What it shares grows once
// for all that map it, and is named as an object.
void add_process(const TopSnapshot& snapshot, size_t index,
                 std::vector<Grower>& found) {
  const model::Process& process = snapshot.sample.processes[index];
  const std::string name = analysis::display_name(process);
  const bool has_kinds = index < snapshot.details.size() &&
                         snapshot.details[index].read_ns &&
                         !snapshot.details[index].is_bound;
  if (has_kinds) {
    for (const analysis::KindGrowth& one : snapshot.details[index].grown) {
      if (one.kind == Category::Shm) continue;
      found.push_back(
          {name + " · " + std::string(model::category_name(one.kind)),
           one.bytes});
    }
    return;
  }
  const analysis::TopSeries* series = snapshot.history->of(process.id);
  const std::optional<int64_t> bytes =
      series == nullptr ? std::nullopt : growth_in(*series);
  if (bytes && *bytes > 0) found.push_back({name, *bytes});
}

// "postgres shared_buffers": who has most of it, and its name.
std::string object_words(const TopSnapshot& snapshot,
                         const analysis::TopGrower& grower) {
  std::string name(base::base_name(grower.name));
  if (!grower.holder) return name;
  const auto holder = std::ranges::find(snapshot.sample.processes,
                                        *grower.holder, &model::Process::id);
  if (holder == snapshot.sample.processes.end()) return name;
  // "postgres: writer" is one of many that have it.
  const std::string& comm = holder->stat.comm;
  return comm.substr(0, comm.find(':')) + " " + name;
}

std::vector<Grower> growers(const Scene& scene, size_t limit) {
  const TopSnapshot& snapshot = *scene.snapshot;
  std::vector<Grower> found;
  if (!snapshot.history) return found;
  const auto is_meant = [&](const std::optional<model::ProcessId>& id) {
    return scene.choice == nullptr || (id && scene.choice->has(id->pid));
  };
  for (size_t i = 0; i < snapshot.sample.processes.size(); ++i) {
    if (is_meant(snapshot.sample.processes[i].id))
      add_process(snapshot, i, found);
  }
  for (const analysis::TopGrower& grower : snapshot.growers) {
    if (is_meant(grower.holder))
      found.push_back({object_words(snapshot, grower), grower.bytes});
  }
  const size_t shown = std::min(found.size(), limit);
  std::partial_sort(
      found.begin(), found.begin() + static_cast<ptrdiff_t>(shown), found.end(),
      [](const Grower& a, const Grower& b) { return a.bytes > b.bytes; });
  found.resize(shown);
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

std::string stall_words(const TopHistory& history, std::string_view gap) {
  const auto last = [](const analysis::TopSeries& series) {
    return series.empty() ? std::nullopt : series.back();
  };
  return "some " + share_words(last(history.stalled_some)) + std::string(gap) +
         "full " + share_words(last(history.stalled_full));
}

void draw_ten_minutes(Canvas& canvas, int column, int row, int columns) {
  canvas.put(column, row, "-10 min", paint(Role::Dim));
  canvas.put_right(column + columns, row, "now", paint(Role::Dim));
}

}  // namespace

std::optional<int64_t> growth_in(const analysis::TopSeries& series) {
  std::optional<uint64_t> first;
  std::optional<uint64_t> last;
  for (const std::optional<uint64_t>& value : series) {
    if (value && !first) first = value;
    if (value) last = value;
  }
  if (!first) return std::nullopt;
  return static_cast<int64_t>(*last) - static_cast<int64_t>(*first);
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
  const std::string total = scale_size(snapshot.machine->total_bytes);
  const bool is_wide = box.columns >= kLegendFrom;
  canvas.put(box.column, box.row,
             is_wide ? "Last 10 minutes" : "In use, last 10 min",
             paint(Role::Dim));
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
              scale_size(snapshot.machine->total_bytes / 2));
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
    canvas.put(box.column, last_row, stall_words(history, " "),
               paint(Role::Plain));
    return;
  }
  canvas.put_right(box.column + box.columns, box.row,
                   stall_words(history, "  "), paint(Role::Plain));
  draw_ten_minutes(canvas, box.column, last_row, box.columns);
}

namespace {

// Where there is no room for names of processes: of which kinds it is more, and
// of which less.
void draw_kinds_growth(Canvas& canvas, const Scene& scene,
                       const PictureBox& box) {
  constexpr std::pair<Category, std::string_view> kShort[] = {
      {Category::Shm, "shared"},   {Category::Swap, "swap"},
      {Category::Ptab, "tables"},  {Category::Kern, "kernel"},
      {Category::Wired, "boot"},   {Category::Huge, "huge"},
      {Category::Code, "program"}, {Category::Stack, "stacks"},
  };
  canvas.put_within(box.column, box.row, box.columns,
                    span_words(*scene.snapshot), paint(Role::Dim));
  std::vector<std::pair<int64_t, Category>> grown;
  for (Category kind : model::kCategories) {
    const std::optional<int64_t> bytes = growth_of(*scene.snapshot, kind);
    if (bytes && *bytes != 0) grown.emplace_back(*bytes, kind);
  }
  std::ranges::stable_sort(grown, std::ranges::greater(),
                           &std::pair<int64_t, Category>::first);
  const auto rows = static_cast<size_t>(std::max(box.rows - 1, 0));
  // The largest at both ends: what grows and what gives.
  if (grown.size() > rows) {
    grown.erase(grown.begin() + static_cast<ptrdiff_t>(rows / 2),
                grown.end() - static_cast<ptrdiff_t>(rows - rows / 2));
  }
  int row = box.row;
  for (const auto& [bytes, kind] : grown) {
    const auto* known = std::ranges::find(
        kShort, kind, &std::pair<Category, std::string_view>::first);
    canvas.put_within(
        box.column, ++row, box.columns - 7,
        known != std::end(kShort) ? known->second : model::category_name(kind),
        paint(Role::Plain));
    put_growth(canvas, box.column + box.columns, row, bytes);
  }
}

// Over so many rows, broken between words.
void put_wrapped(Canvas& canvas, const PictureBox& box, std::string words) {
  const auto room = static_cast<size_t>(box.columns);
  int row = box.row;
  while (row + 1 < box.row + box.rows && base::display_width(words) > room) {
    const size_t blank = words.rfind(' ', room);
    if (blank == std::string::npos) break;
    canvas.put(box.column, row++, words.substr(0, blank), paint(Role::Dim));
    words.erase(0, blank + 1);
  }
  canvas.put_within(box.column, row, box.columns, words, paint(Role::Dim));
}

// "steady", "+1.00G in 10 min"; empty: nothing is known of before. A thousandth
// of RAM comes and goes while counters are read.
std::string residue_trend(const TopSnapshot& snapshot, const Census& census,
                          bool is_counted) {
  std::optional<int64_t> growth = growth_of(snapshot, Category::Unnamed);
  std::string span = span_words(snapshot);
  // Of one moment nothing is steady.
  if (!snapshot.history || snapshot.history->span_ns() == 0) growth.reset();
  if (is_counted) {
    const std::optional<Census::Growth> counted = census.unnamed_growth();
    growth.reset();
    if (counted) growth = counted->bytes;
    if (counted) span = age_words(counted->since_ns);
  }
  if (!growth) return "";
  const uint64_t much =
      std::max<uint64_t>(snapshot.machine->total_bytes / 1000, 1);
  if (static_cast<uint64_t>(std::abs(*growth)) < much) return "steady";
  return signed_size(growth) + " in " + span;
}

}  // namespace

void draw_growing(Canvas& canvas, const Scene& scene, const PictureBox& box) {
  constexpr int kLeastForNames = 24;
  if (box.columns < kLeastForNames)
    return draw_kinds_growth(canvas, scene, box);
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

void draw_residue(Canvas& canvas, const Scene& scene, const Census& census,
                  const PictureBox& box) {
  const TopSnapshot& snapshot = *scene.snapshot;
  const bool is_counted = census.is_counted() && !snapshot.playback;
  const TopMachine account = account_of(snapshot, census);
  const int64_t bytes = bytes_of(account, Category::Unnamed);
  const std::string trend = residue_trend(snapshot, census, is_counted);
  std::string words = fmt::format(
      "unnamed {}, {:.1f} % of RAM{}: {}", signed_size(bytes).substr(bytes > 0),
      static_cast<double>(bytes) * 100.0 /
          static_cast<double>(std::max<uint64_t>(account.total_bytes, 1)),
      trend.empty() ? "" : ", " + trend,
      is_counted ? "kernel pages that no source explains"
                 : "pages that no counter explains");
  // Of what was counted once it is not known whether it grows.
  if (trend.empty()) words += is_counted ? " (c: trend)" : " (trend ?)";
  put_wrapped(canvas, box, std::move(words));
}

}  // namespace tidemark::view::tui
