#include "view/tui/timeline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "base/units.h"
#include "view/tui/frame.h"
#include "view/tui/numbers.h"
#include "view/tui/timeline_picture.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopTimeline;
using analysis::TopTimelinePoint;
using model::Category;

constexpr int kScaleColumns = 6;
constexpr int kLegendColumns = 22;

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
  TimeWindow window(const Scene& scene, const TopTimeline& timeline) const {
    return time_window(timeline, moment(scene, timeline),
                       std::min(zoom_, most_zoom(timeline)));
  }
  Answer zoom(bool is_in, const TopTimeline& timeline);
  std::string event_words(const Scene& scene,
                          const TopTimeline& timeline) const;
  void draw_table(Canvas& canvas, const Scene& scene,
                  const TopTimeline& timeline, int row, int rows) const;

  int columns_ = 80;
  std::optional<size_t> chosen_;  // of what is live; empty: now
  uint32_t zoom_ = 0;             // times the time was halved
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
  const auto shown = static_cast<int64_t>(
      timeline->points.size() >> std::min(zoom_, most_zoom(*timeline)));
  const auto step = std::max<int64_t>(1, shown / picture_columns(columns_));
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
      const auto points =
          highest_points(*timeline, window(scene, *timeline), columns);
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
    case U'+':
    case U'=':
      return zoom(true, *timeline);
    case U'-':
      return zoom(false, *timeline);
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

Answer TimelineView::zoom(bool is_in, const TopTimeline& timeline) {
  const uint32_t before = std::min(zoom_, most_zoom(timeline));
  if (!is_in && before == 0) return taken("this is all of it");
  if (is_in && before == most_zoom(timeline))
    return taken("there are no more points between these");
  zoom_ = is_in ? before + 1 : before - 1;
  return taken();
}

// What happened in the column of the moment.
std::string TimelineView::event_words(const Scene& scene,
                                      const TopTimeline& timeline) const {
  const TimeWindow shown = window(scene, timeline);
  const int columns = picture_columns(columns_);
  const int at = shown.column_of(
      timeline.points[moment(scene, timeline)].elapsed_ns, columns);
  std::string words;
  for (const analysis::TopEvent& event : timeline.events) {
    if (!shown.contains(event.elapsed_ns) ||
        shown.column_of(event.elapsed_ns, columns) != at)
      continue;
    words += (words.empty() ? "" : ", ") + std::string(event_word(event.kind)) +
             " " + base::visible(event.words);
  }
  return words;
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
  for (Category kind : kTimelineBands) {
    const auto index = static_cast<size_t>(kind);
    if (now.kinds[index] == 0) continue;
    kinds.push_back(
        {kind, now.kinds[index],
         static_cast<int64_t>(now.kinds[index]) -
             static_cast<int64_t>(timeline.points[before].kinds[index])});
  }
  std::ranges::stable_sort(kinds, std::ranges::greater(), &KindAt::bytes);
  canvas.put_within(1, row, 25,
                    timeline.of.empty() ? "At this moment"
                                        : base::visible(timeline.of) + " alone",
                    paint(timeline.of.empty() ? Role::Dim : Role::Strong));
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
  const int picture_rows = area.rows - table_rows - 5;
  if (canvas.rows() < 14 || picture_rows < 2) {
    draw_table(canvas, scene, *timeline, area.top, area.rows);
    return;
  }
  const PictureBox box = {kScaleColumns, area.top + 1,
                          picture_columns(canvas.columns()), picture_rows};
  const TimelinePicture picture(canvas, scene.look, *timeline,
                                window(scene, *timeline), box);
  picture.draw_bands();
  picture.draw_limit();
  if (canvas.columns() >= 132) picture.draw_legend(kLegendColumns);
  picture.draw_swap();
  picture.draw_axis(box.row + box.rows + 1);
  picture.draw_events(box.row + box.rows + 2);
  picture.draw_cursor(moment(scene, *timeline));
  const int rule = box.row + box.rows + 3;
  draw_rule(canvas, rule);
  draw_table(canvas, scene, *timeline, rule + 1,
             area.top + area.rows - rule - 1);
}

std::string TimelineView::status(const Scene& scene) const {
  const TopTimeline* timeline = timeline_in(scene);
  if (timeline == nullptr)
    return scene.choice ? "no process is meant" : "nothing was read yet";
  const TopTimelinePoint& now = timeline->points[moment(scene, *timeline)];
  std::string words = "sum " + base::short_size(now.sum()) + " · swapped out " +
                      base::short_size(now.swap_bytes) + " beside it · " +
                      base::counted(timeline->points.size(), "tick", "ticks");
  const std::string happened = event_words(scene, *timeline);
  if (!happened.empty()) words = happened + " · " + words;
  if (timeline->gap_count > 0)
    words += ", " + base::grouped(timeline->gap_count) + " missed";
  return words;
}

std::vector<KeyHint> TimelineView::hints(const Scene& scene) const {
  std::vector<KeyHint> hints = {{"←→", "moment"}, {"p", "next peak"}};
  const bool is_recorded = scene.snapshot->playback.has_value();
  if (is_recorded)
    hints.insert(hints.end(), {{"Space", "play"}, {"<>", "speed"}});
  hints.push_back({"+-", "zoom"});
  if (is_recorded) hints.push_back({"t", "go to time"});
  hints.push_back({"Tab", "view"});
  return hints;
}

std::vector<HelpSection> TimelineView::help() const {
  return {{"MOMENT",
           {{"← →  with Shift", "one column, ten"},
            {"Home End", "first, last"},
            {"p P", "next peak, previous"},
            {"+ -", "half the time, twice"},
            {"t", "go to a time: 00:41:12, peak, end (recordings)"}}},
          {"PLAY (recordings)",
           {{"Space", "play, pause"}, {"< >", "half the speed, twice"}}}};
}

}  // namespace

std::unique_ptr<View> make_timeline_view() {
  return std::make_unique<TimelineView>();
}

}  // namespace tidemark::view::tui
