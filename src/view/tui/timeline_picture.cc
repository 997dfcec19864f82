#include "view/tui/timeline_picture.h"

#include <algorithm>
#include <string>

#include "base/escape.h"
#include "base/units.h"
#include "view/tui/numbers.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopEvent;
using analysis::TopEventKind;
using analysis::TopTimeline;
using analysis::TopTimelinePoint;
using model::Category;

// A round number at or above: 4 to 8 of a power of two.
uint64_t round_top(uint64_t bytes) {
  uint64_t unit = 1;
  while (unit * 8 < bytes)
    unit *= 2;
  for (uint64_t count : {4U, 5U, 6U, 7U, 8U}) {
    if (unit * count >= bytes) return std::max<uint64_t>(unit * count, 1);
  }
  return unit * 8;
}

// A limit far above all of it would make the picture a line at the foot.
uint64_t top_of(const TopTimeline& timeline) {
  const uint64_t highest = timeline.points[timeline.highest].sum();
  const uint64_t limit = timeline.limit_bytes.value_or(0);
  return round_top(limit <= 2 * highest ? std::max(highest, limit) : highest);
}

struct EventLook {
  TopEventKind kind;
  char32_t glyph;
  std::string_view word;
};
// Where several fall into one column the last of these is drawn.
constexpr EventLook kEventLooks[] = {
    {TopEventKind::Start, U'┃', "start"},
    {TopEventKind::Exit, U'○', "exit"},
    {TopEventKind::Exec, U'▸', "exec"},
    {TopEventKind::Pressure, U'!', "pressure"},
    {TopEventKind::OutOfMemory, U'X', "out of memory"},
};

size_t rank_of(TopEventKind kind) {
  size_t rank = 0;
  while (kEventLooks[rank].kind != kind)
    ++rank;
  return rank;
}

}  // namespace

std::string_view event_word(TopEventKind kind) {
  return kEventLooks[rank_of(kind)].word;
}

int TimeWindow::column_of(uint64_t elapsed_ns, int columns) const {
  const uint64_t clamped = std::clamp(elapsed_ns, from_ns, to_ns);
  const double share =
      static_cast<double>(clamped - from_ns) /
      static_cast<double>(std::max(to_ns - from_ns, uint64_t{1}));
  return std::min(columns - 1,
                  static_cast<int>(share * static_cast<double>(columns)));
}

uint32_t most_zoom(const TopTimeline& timeline) {
  constexpr size_t kLeastPoints = 8;
  uint32_t zoom = 0;
  while ((timeline.points.size() >> (zoom + 1)) >= kLeastPoints)
    ++zoom;
  return zoom;
}

TimeWindow time_window(const TopTimeline& timeline, size_t moment,
                       uint32_t zoom) {
  const uint64_t all = std::max<uint64_t>(timeline.points.back().elapsed_ns, 1);
  const uint64_t length = std::max<uint64_t>(all >> zoom, 1);
  const uint64_t middle = timeline.points[moment].elapsed_ns;
  const uint64_t from = middle - std::min(middle, length / 2);
  const uint64_t latest = all - length;
  TimeWindow window;
  window.from_ns = std::min(from, latest);
  window.to_ns = window.from_ns + length;
  return window;
}

std::vector<std::optional<size_t>> highest_points(const TopTimeline& timeline,
                                                  const TimeWindow& window,
                                                  int columns) {
  std::vector<std::optional<size_t>> out(
      static_cast<size_t>(std::max(columns, 0)));
  for (size_t i = 0; i < timeline.points.size() && !out.empty(); ++i) {
    if (!window.contains(timeline.points[i].elapsed_ns)) continue;
    std::optional<size_t>& best = out[static_cast<size_t>(
        window.column_of(timeline.points[i].elapsed_ns, columns))];
    if (!best || timeline.points[i].sum() > timeline.points[*best].sum())
      best = i;
  }
  return out;
}

TimelinePicture::TimelinePicture(Canvas& canvas, const Look& look,
                                 const TopTimeline& timeline,
                                 const TimeWindow& window,
                                 const PictureBox& box)
    : canvas_(canvas),
      look_(look),
      timeline_(timeline),
      window_(window),
      box_(box),
      top_bytes_(top_of(timeline)),
      points_(highest_points(timeline, window, box.columns)) {}

int TimelinePicture::row_of(uint64_t bytes) const {
  return box_.row + box_.rows - 1 -
         static_cast<int>(static_cast<double>(bytes) /
                          static_cast<double>(top_bytes_) *
                          static_cast<double>(box_.rows) * 0.999);
}

void TimelinePicture::draw_bands() const {
  std::vector<StackColumn> columns(points_.size());
  // Each point holds until the next, also from before the window on.
  size_t held = 0;
  while (held + 1 < timeline_.points.size() &&
         timeline_.points[held + 1].elapsed_ns <= window_.from_ns)
    ++held;
  for (size_t x = 0; x < columns.size(); ++x) {
    held = points_[x].value_or(held);
    for (Category kind : kTimelineBands) {
      columns[x].parts.push_back(
          timeline_.points[held].kinds[static_cast<size_t>(kind)]);
    }
  }
  for (const TopTimelinePoint& point : timeline_.points) {
    if (!point.is_after_gap || !window_.contains(point.elapsed_ns)) continue;
    const int x = window_.column_of(point.elapsed_ns, box_.columns);
    columns[static_cast<size_t>(x)].is_missed = true;
  }
  draw_stack(canvas_, look_, box_, kTimelineBands, columns, top_bytes_);
  // Halves of the scale.
  for (int part : {0, 1, 2}) {
    const int row = box_.row + (box_.rows - 1) * part / 2;
    const uint64_t bytes = top_bytes_ / 2 * static_cast<uint64_t>(2 - part);
    canvas_.put_right(box_.column - 1, row, scale_size(bytes),
                      paint(Role::Dim));
  }
  // The high-water mark.
  const int tide = row_of(timeline_.points[timeline_.highest].sum());
  for (int x = 0; x < box_.columns; ++x) {
    if (canvas_.at(box_.column + x, tide).glyph == U' ')
      canvas_.set(box_.column + x, tide, U'┈', paint(Role::Plain));
  }
}

void TimelinePicture::draw_limit() const {
  if (!timeline_.limit_bytes || *timeline_.limit_bytes > top_bytes_) return;
  const int row = row_of(*timeline_.limit_bytes);
  for (int x = 0; x < box_.columns; ++x) {
    const char32_t there = canvas_.at(box_.column + x, row).glyph;
    if (there == U' ' || there == U'┈')
      canvas_.set(box_.column + x, row, U'╌', paint(Role::Dim));
  }
  canvas_.put(box_.column, row,
              "limit " + scale_size(*timeline_.limit_bytes) + " ",
              paint(Role::Plain));
}

// Names beside the bands, each where it ends or as near as there is a row.
void TimelinePicture::draw_legend(int columns) const {
  size_t last_index = timeline_.points.size() - 1;
  while (last_index > 0 &&
         timeline_.points[last_index].elapsed_ns > window_.to_ns)
    --last_index;
  const TopTimelinePoint& last = timeline_.points[last_index];
  const auto top = static_cast<double>(top_bytes_);
  double below = 0;
  int free_row = box_.row + box_.rows - 1;
  for (Category kind : kTimelineBands) {
    const auto bytes =
        static_cast<double>(last.kinds[static_cast<size_t>(kind)]);
    if (bytes == 0) continue;
    const double middle = (below + bytes / 2) / top;
    below += bytes;
    const int wanted =
        box_.row + box_.rows - 1 -
        static_cast<int>(middle * static_cast<double>(box_.rows));
    const int row = std::min(wanted, free_row);
    if (row < box_.row) return;
    free_row = row - 1;
    const int column = box_.column + box_.columns + 1;
    canvas_.set(column, row, band_glyph(look_, kind), paint(role_of(kind)));
    canvas_.put_within(column + 2, row, columns - 4,
                       kind == Category::Code ? "program, libraries"
                                              : model::category_name(kind),
                       paint(Role::Plain));
  }
}

void TimelinePicture::draw_swap() const {
  const int row = box_.row + box_.rows;
  canvas_.put(1, row, "swap", paint(Role::Dim));
  bool is_swapped = false;
  for (int x = 0; x < box_.columns; ++x) {
    const std::optional<size_t>& point = points_[static_cast<size_t>(x)];
    if (point) is_swapped = timeline_.points[*point].swap_bytes > 0;
    canvas_.set(box_.column + x, row,
                is_swapped ? band_glyph(look_, Category::Swap) : U'─',
                paint(is_swapped ? role_of(Category::Swap) : Role::Dim));
  }
}

void TimelinePicture::draw_axis(int row) const {
  const uint64_t length = window_.to_ns - window_.from_ns;
  for (int part : {0, 1, 2, 3}) {
    const int column = box_.column + (box_.columns - 8) * part / 3;
    canvas_.put(column, row,
                base::clock_duration(window_.from_ns +
                                     length / 3 * static_cast<uint64_t>(part)),
                paint(Role::Dim));
    if (box_.columns < 40) break;
  }
}

void TimelinePicture::draw_events(int row) const {
  canvas_.put(0, row, "event", paint(Role::Dim));
  std::vector<size_t> ranks(points_.size(), 0);  // one more than that drawn
  for (const TopEvent& event : timeline_.events) {
    if (!window_.contains(event.elapsed_ns)) continue;
    size_t& rank = ranks[static_cast<size_t>(
        window_.column_of(event.elapsed_ns, box_.columns))];
    rank = std::max(rank, rank_of(event.kind) + 1);
  }
  for (size_t x = 0; x < ranks.size(); ++x) {
    if (ranks[x] == 0) continue;
    const EventLook& look = kEventLooks[ranks[x] - 1];
    const bool is_bad = look.kind == TopEventKind::OutOfMemory ||
                        look.kind == TopEventKind::Pressure;
    canvas_.set(box_.column + static_cast<int>(x), row, look.glyph,
                paint(is_bad ? Role::Growth : Role::Plain));
  }
  const int room = canvas_.columns() - 1 - box_.column - box_.columns;
  if (room < 16) return;
  canvas_.put(box_.column + box_.columns + 1, row, "▸exec ┃start ○exit",
              paint(Role::Dim));
}

void TimelinePicture::draw_cursor(size_t moment,
                                  const std::string& size) const {
  const TopTimelinePoint& point = timeline_.points[moment];
  const int column =
      box_.column + window_.column_of(point.elapsed_ns, box_.columns);
  for (int row = box_.row; row < box_.row + box_.rows; ++row) {
    if (!canvas_.is_inside(column, row)) continue;
    const Paint ink = canvas_.at(column, row).paint;
    const bool is_band = ink.fore >= Role::Kinds;
    canvas_.set(column, row, U'│',
                {Role::Strong, is_band ? ink.fore : ink.back, true, false});
  }
  const bool is_peak = std::ranges::binary_search(timeline_.peaks, moment);
  std::string flag = is_peak ? "▶ peak " : "▶ ";
  flag += size + "  " + base::clock_duration(point.elapsed_ns);
  const int width = static_cast<int>(base::display_width(flag));
  Paint ink = paint(Role::Strong);
  ink.is_reversed = is_peak && look_.has_color();
  canvas_.put(std::max(0, std::min(column, canvas_.columns() - 1 - width)),
              box_.row - 1, flag, ink);
}

}  // namespace tidemark::view::tui
