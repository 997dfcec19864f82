#include "view/tui/timeline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "view/tui/frame.h"
#include "view/tui/numbers.h"
#include "view/tui/stack_picture.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopTimeline;
using analysis::TopTimelinePoint;
using model::Category;

constexpr int kScaleColumns = 6;
constexpr int kLegendColumns = 22;

// RAM from the foot up; what is swapped out has a line of its own below.
constexpr Category kBandOrder[] = {
    Category::Heap, Category::Anon, Category::Stack, Category::Shm,
    Category::File, Category::Code, Category::Huge,  Category::Slab,
    Category::Ptab, Category::Kern, Category::Wired, Category::Unnamed,
};

uint64_t end_of(const TopTimeline& timeline) {
  return std::max<uint64_t>(timeline.points.back().elapsed_ns, 1);
}

int column_of(const TopTimeline& timeline, uint64_t elapsed_ns, int columns) {
  const double share =
      static_cast<double>(elapsed_ns) / static_cast<double>(end_of(timeline));
  return std::min(columns - 1,
                  static_cast<int>(share * static_cast<double>(columns)));
}

// The highest point of each column; empty where none lies.
std::vector<std::optional<size_t>> highest_points(const TopTimeline& timeline,
                                                  int columns) {
  std::vector<std::optional<size_t>> out(static_cast<size_t>(columns));
  for (size_t i = 0; i < timeline.points.size(); ++i) {
    std::optional<size_t>& best = out[static_cast<size_t>(
        column_of(timeline, timeline.points[i].elapsed_ns, columns))];
    if (!best || timeline.points[i].sum() > timeline.points[*best].sum())
      best = i;
  }
  return out;
}

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

struct KindAt {
  Category kind = Category::Unnamed;
  uint64_t bytes = 0;
  int64_t growth_bytes = 0;
};

class TimelineView : public View {
 public:
  char32_t number() const override { return U'5'; }
  std::string_view name() const override { return "Timeline"; }
  bool has_ledger_line() const override { return false; }
  void arrange(const Scene& scene, int columns, const Area& /*area*/) override;
  Answer press(const Key& key, const Scene& scene) override;
  void draw(Canvas& canvas, const Scene& scene,
            const Area& area) const override;
  std::string status(const Scene& scene) const override;
  std::vector<KeyHint> hints(const Scene& scene) const override;
  std::vector<HelpSection> help() const override;

 private:
  static const TopTimeline* timeline_in(const Scene& scene) {
    const TopTimeline* timeline = scene.snapshot->timeline.get();
    return timeline == nullptr || timeline->points.empty() ? nullptr : timeline;
  }
  static int picture_columns(int columns) {
    const int legend = columns >= 132 ? kLegendColumns : 0;
    return std::max(columns - kScaleColumns - 1 - legend, 1);
  }
  size_t moment(const Scene& scene, const TopTimeline& timeline) const;
  Answer move(const Scene& scene, const TopTimeline& timeline, int64_t count);
  Answer go_to_peak(const Scene& scene, const TopTimeline& timeline,
                    bool is_next);
  void draw_picture(Canvas& canvas, const Scene& scene,
                    const TopTimeline& timeline, const PictureBox& box) const;
  static void draw_legend(Canvas& canvas, const Scene& scene,
                          const TopTimeline& timeline, const PictureBox& box);
  void draw_swap(Canvas& canvas, const Scene& scene,
                 const TopTimeline& timeline, const PictureBox& box) const;
  void draw_axis(Canvas& canvas, const TopTimeline& timeline,
                 const PictureBox& box, int row) const;
  void draw_cursor(Canvas& canvas, const Scene& scene,
                   const TopTimeline& timeline, const PictureBox& box) const;
  void draw_table(Canvas& canvas, const Scene& scene,
                  const TopTimeline& timeline, int row, int rows) const;

  int columns_ = 80;
  std::optional<size_t> chosen_;  // of what is live; empty: now
};

void TimelineView::arrange(const Scene& /*scene*/, int columns,
                           const Area& /*area*/) {
  columns_ = columns;
}

size_t TimelineView::moment(const Scene& scene,
                            const TopTimeline& timeline) const {
  const size_t last = timeline.points.size() - 1;
  if (scene.snapshot->playback)
    return std::min(scene.snapshot->playback->tick_index, last);
  return std::min(chosen_.value_or(last), last);
}

Answer TimelineView::move(const Scene& scene, const TopTimeline& timeline,
                          int64_t count) {
  if (scene.snapshot->playback) {
    Answer answer = asked(Wish::MoveTicks);
    answer.request.count = count;
    return answer;
  }
  const auto last = static_cast<int64_t>(timeline.points.size()) - 1;
  const int64_t to = std::clamp<int64_t>(
      static_cast<int64_t>(moment(scene, timeline)) + count, 0, last);
  chosen_ = to == last ? std::nullopt : std::optional(static_cast<size_t>(to));
  return taken();
}

Answer TimelineView::go_to_peak(const Scene& scene, const TopTimeline& timeline,
                                bool is_next) {
  if (scene.snapshot->playback)
    return asked(is_next ? Wish::NextPeak : Wish::PreviousPeak);
  const size_t now = moment(scene, timeline);
  std::optional<size_t> found;
  for (size_t peak : timeline.peaks) {
    if (is_next && peak > now && !found) found = peak;
    if (!is_next && peak < now) found = peak;
  }
  if (!found) return taken(is_next ? "no later peak" : "no earlier peak");
  chosen_ = found;
  return taken();
}

Answer TimelineView::press(const Key& key, const Scene& scene) {
  const TopTimeline* timeline = timeline_in(scene);
  if (timeline == nullptr) return {};
  // One column, and at least one point.
  const auto step =
      std::max<int64_t>(1, static_cast<int64_t>(timeline->points.size()) /
                               picture_columns(columns_));
  const auto all = static_cast<int64_t>(timeline->points.size());
  switch (key.code) {
    case KeyCode::Left:
      return move(scene, *timeline, -step);
    case KeyCode::Right:
      return move(scene, *timeline, step);
    case KeyCode::FarLeft:
      return move(scene, *timeline, -10 * step);
    case KeyCode::FarRight:
      return move(scene, *timeline, 10 * step);
    case KeyCode::Home:
      return move(scene, *timeline, -all);
    case KeyCode::End:
      return move(scene, *timeline, all);
    case KeyCode::Click: {
      const int column = key.column - kScaleColumns;
      const int columns = picture_columns(columns_);
      if (key.row < 3 || column < 0 || column >= columns) return {};
      const auto points = highest_points(*timeline, columns);
      int at = column;
      while (at > 0 && !points[static_cast<size_t>(at)])
        --at;
      const auto to =
          static_cast<int64_t>(points[static_cast<size_t>(at)].value_or(0));
      return move(scene, *timeline,
                  to - static_cast<int64_t>(moment(scene, *timeline)));
    }
    case KeyCode::Character:
      break;
    default:
      return {};
  }
  switch (key.character) {
    case U'p':
    case U'P':
      return go_to_peak(scene, *timeline, key.character == U'p');
    case U' ':
      return scene.snapshot->playback ? asked(Wish::PlayOrPause) : Answer{};
    case U'>':
    case U'<':
      if (!scene.snapshot->playback) return {};
      return asked(key.character == U'>' ? Wish::Faster : Wish::Slower);
    default:
      return {};
  }
}

void TimelineView::draw_picture(Canvas& canvas, const Scene& scene,
                                const TopTimeline& timeline,
                                const PictureBox& box) const {
  const uint64_t top = round_top(timeline.points[timeline.highest].sum());
  std::vector<StackColumn> columns(static_cast<size_t>(box.columns));
  const auto points = highest_points(timeline, box.columns);
  for (size_t x = 0; x < columns.size(); ++x) {
    if (!points[x]) {
      if (x > 0) columns[x].parts = columns[x - 1].parts;
      continue;
    }
    const TopTimelinePoint& point = timeline.points[*points[x]];
    for (Category kind : kBandOrder)
      columns[x].parts.push_back(point.kinds[static_cast<size_t>(kind)]);
  }
  for (const TopTimelinePoint& point : timeline.points) {
    if (!point.is_after_gap) continue;
    const int x = column_of(timeline, point.elapsed_ns, box.columns);
    columns[static_cast<size_t>(x)].is_missed = true;
  }
  draw_stack(canvas, scene.look, box, kBandOrder, columns, top);
  // Halves of the scale.
  for (int part : {0, 1, 2}) {
    const int row = box.row + (box.rows - 1) * part / 2;
    const uint64_t bytes = top / 2 * static_cast<uint64_t>(2 - part);
    canvas.put_right(box.column - 1, row, base::short_size(bytes),
                     paint(Role::Dim));
  }
  // The high-water mark.
  const int tide =
      box.row + box.rows - 1 -
      static_cast<int>(
          static_cast<double>(timeline.points[timeline.highest].sum()) /
          static_cast<double>(top) * static_cast<double>(box.rows) * 0.999);
  for (int x = 0; x < box.columns; ++x) {
    if (canvas.at(box.column + x, tide).glyph == U' ')
      canvas.set(box.column + x, tide, U'┈', paint(Role::Plain));
  }
}

// Names beside the bands, each where it ends or as near as there is a row.
void TimelineView::draw_legend(Canvas& canvas, const Scene& scene,
                               const TopTimeline& timeline,
                               const PictureBox& box) {
  const TopTimelinePoint& last = timeline.points.back();
  const auto top =
      static_cast<double>(round_top(timeline.points[timeline.highest].sum()));
  double below = 0;
  int free_row = box.row + box.rows - 1;
  for (Category kind : kBandOrder) {
    const auto bytes =
        static_cast<double>(last.kinds[static_cast<size_t>(kind)]);
    if (bytes == 0) continue;
    const double middle = (below + bytes / 2) / top;
    below += bytes;
    const int wanted = box.row + box.rows - 1 -
                       static_cast<int>(middle * static_cast<double>(box.rows));
    const int row = std::min(wanted, free_row);
    if (row < box.row) return;
    free_row = row - 1;
    const int column = box.column + box.columns + 1;
    canvas.set(column, row, band_glyph(scene.look, kind), paint(role_of(kind)));
    canvas.put_within(column + 2, row, kLegendColumns - 4,
                      model::category_name(kind), paint(Role::Plain));
  }
}

void TimelineView::draw_swap(Canvas& canvas, const Scene& scene,
                             const TopTimeline& timeline,
                             const PictureBox& box) const {
  const int row = box.row + box.rows;
  canvas.put(1, row, "swap", paint(Role::Dim));
  const auto points = highest_points(timeline, box.columns);
  bool is_swapped = false;
  for (int x = 0; x < box.columns; ++x) {
    const std::optional<size_t>& point = points[static_cast<size_t>(x)];
    if (point) is_swapped = timeline.points[*point].swap_bytes > 0;
    canvas.set(box.column + x, row,
               is_swapped ? band_glyph(scene.look, Category::Swap) : U'─',
               paint(is_swapped ? role_of(Category::Swap) : Role::Dim));
  }
}

void TimelineView::draw_axis(Canvas& canvas, const TopTimeline& timeline,
                             const PictureBox& box, int row) const {
  for (int part : {0, 1, 2, 3}) {
    const int column = box.column + (box.columns - 8) * part / 3;
    canvas.put(column, row,
               base::clock_duration(end_of(timeline) / 3 *
                                    static_cast<uint64_t>(part)),
               paint(Role::Dim));
    if (box.columns < 40) break;
  }
}

void TimelineView::draw_cursor(Canvas& canvas, const Scene& scene,
                               const TopTimeline& timeline,
                               const PictureBox& box) const {
  const size_t at = moment(scene, timeline);
  const TopTimelinePoint& point = timeline.points[at];
  const int column =
      box.column + column_of(timeline, point.elapsed_ns, box.columns);
  for (int row = box.row; row < box.row + box.rows; ++row) {
    if (!canvas.is_inside(column, row)) continue;
    Paint ink = canvas.at(column, row).paint;
    const bool is_band = ink.fore >= Role::Kinds;
    canvas.set(column, row, U'│',
               {Role::Strong, is_band ? ink.fore : ink.back, true, false});
  }
  const bool is_peak = std::ranges::binary_search(timeline.peaks, at);
  std::string flag = is_peak ? "▶ peak " : "▶ ";
  flag += base::short_size(point.sum()) + "  " +
          base::clock_duration(point.elapsed_ns);
  const int width = static_cast<int>(flag.size()) - 2;
  Paint ink = paint(Role::Strong);
  ink.is_reversed = is_peak && scene.look.has_color();
  canvas.put(std::max(0, std::min(column, canvas.columns() - 1 - width)),
             box.row - 1, flag, ink);
}

void TimelineView::draw_table(Canvas& canvas, const Scene& scene,
                              const TopTimeline& timeline, int row,
                              int rows) const {
  const size_t at = moment(scene, timeline);
  const TopTimelinePoint& now = timeline.points[at];
  size_t before = at;
  while (before > 0 && now.elapsed_ns - timeline.points[before].elapsed_ns <
                           analysis::kTopHistoryNs)
    --before;
  std::vector<KindAt> kinds;
  for (Category kind : kBandOrder) {
    const auto index = static_cast<size_t>(kind);
    if (now.kinds[index] == 0) continue;
    kinds.push_back(
        {kind, now.kinds[index],
         static_cast<int64_t>(now.kinds[index]) -
             static_cast<int64_t>(timeline.points[before].kinds[index])});
  }
  std::ranges::stable_sort(kinds, std::ranges::greater(), &KindAt::bytes);
  canvas.put(1, row, "At this moment", paint(Role::Dim));
  canvas.put_right(33, row, "PSS", paint(Role::Strong));
  canvas.put_right(41, row, "%", paint(Role::Dim));
  canvas.put_right(50, row, "10 MIN", paint(Role::Dim));
  const uint64_t sum = std::max<uint64_t>(now.sum(), 1);
  for (size_t i = 0; i < kinds.size(); ++i) {
    const int line = row + 1 + static_cast<int>(i);
    const bool is_last = static_cast<int>(i) + 2 == rows;
    if (is_last && i + 1 < kinds.size()) {
      uint64_t rest = 0;
      for (size_t k = i; k < kinds.size(); ++k)
        rest += kinds[k].bytes;
      canvas.put(3, line, std::to_string(kinds.size() - i) + " more",
                 paint(Role::Dim));
      canvas.put_right(33, line, base::short_size(rest), paint(Role::Plain));
      break;
    }
    if (static_cast<int>(i) + 1 >= rows) break;
    canvas.set(1, line, band_glyph(scene.look, kinds[i].kind),
               paint(role_of(kinds[i].kind)));
    canvas.put_within(3, line, 23, model::category_name(kinds[i].kind),
                      paint(Role::Plain));
    canvas.put_right(33, line, base::short_size(kinds[i].bytes),
                     paint(Role::Strong));
    canvas.put_right(41, line, base::percent(kinds[i].bytes, sum),
                     paint(Role::Plain));
    put_growth(canvas, 50, line, kinds[i].growth_bytes);
  }
}

void TimelineView::draw(Canvas& canvas, const Scene& scene,
                        const Area& area) const {
  const TopTimeline* timeline = timeline_in(scene);
  if (timeline == nullptr) return;
  // Below 14 rows the picture goes.
  const int table_rows = std::clamp(area.rows / 3, 4, 11);
  const int picture_rows = area.rows - table_rows - 4;
  if (canvas.rows() < 14 || picture_rows < 2) {
    draw_table(canvas, scene, *timeline, area.top, area.rows);
    return;
  }
  const PictureBox box = {kScaleColumns, area.top + 1,
                          picture_columns(canvas.columns()), picture_rows};
  draw_picture(canvas, scene, *timeline, box);
  if (canvas.columns() >= 132) draw_legend(canvas, scene, *timeline, box);
  draw_swap(canvas, scene, *timeline, box);
  draw_axis(canvas, *timeline, box, box.row + box.rows + 1);
  draw_cursor(canvas, scene, *timeline, box);
  const int rule = box.row + box.rows + 2;
  draw_rule(canvas, rule);
  draw_table(canvas, scene, *timeline, rule + 1,
             area.top + area.rows - rule - 1);
}

std::string TimelineView::status(const Scene& scene) const {
  const TopTimeline* timeline = timeline_in(scene);
  if (timeline == nullptr) return "nothing was read yet";
  const TopTimelinePoint& now = timeline->points[moment(scene, *timeline)];
  std::string words = "sum " + base::short_size(now.sum()) + " · swapped out " +
                      base::short_size(now.swap_bytes) + " beside it · " +
                      base::counted(timeline->points.size(), "tick", "ticks");
  if (timeline->gap_count > 0)
    words += ", " + base::grouped(timeline->gap_count) + " missed";
  return words;
}

std::vector<KeyHint> TimelineView::hints(const Scene& scene) const {
  std::vector<KeyHint> hints = {{"←→", "moment"}, {"p", "next peak"}};
  if (scene.snapshot->playback) {
    hints.insert(hints.end(),
                 {{"Space", "play"}, {"<>", "speed"}, {"t", "go to time"}});
  }
  hints.push_back({"Tab", "view"});
  return hints;
}

std::vector<HelpSection> TimelineView::help() const {
  return {{"MOMENT",
           {{"← →  with Shift", "one column, ten"},
            {"Home End", "first, last"},
            {"p P", "next peak, previous"},
            {"t", "go to a time: 00:41:12, peak, end (recordings)"}}},
          {"PLAY (recordings)",
           {{"Space", "play, pause"}, {"< >", "half the speed, twice"}}}};
}

}  // namespace

std::unique_ptr<View> make_timeline_view() {
  return std::make_unique<TimelineView>();
}

}  // namespace tidemark::view::tui
