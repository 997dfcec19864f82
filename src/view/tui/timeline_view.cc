#include "view/tui/timeline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "base/units.h"
#include "view/tui/frame.h"
#include "view/tui/numbers.h"
#include "view/tui/row_list.h"
#include "view/tui/timeline_picture.h"
#include "view/tui/timeline_table.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopTimeline;

constexpr int kScaleColumns = 6;
constexpr int kLegendColumns = 22;

class TimelineView : public View {
 public:
  char32_t number() const override { return U'5'; }
  std::string_view name() const override { return "Timeline"; }
  bool has_ledger_line() const override { return false; }
  void arrange(const Scene& scene, int columns, const Area& /*area*/) override;
  Answer press(const Key& key, const Scene& scene) override;
  Answer tell(Prompt prompt, const std::string& text, bool is_final,
              const Scene& scene) override;
  std::string copy(const Scene& scene) const override;
  std::string status_end(const Scene& scene) const override;
  void draw(Canvas& canvas, const Scene& scene,
            const Area& area) const override;
  std::string status(const Scene& scene) const override;
  std::vector<KeyHint> hints(const Scene& scene) const override;
  std::vector<HelpSection> help(const Scene& scene) const override;

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
  void choose(const Scene& scene, const TopTimeline& timeline, size_t point);
  Answer move(const Scene& scene, const TopTimeline& timeline, int64_t count);
  Answer go_to_peak(const Scene& scene, const TopTimeline& timeline,
                    bool is_next);
  TimeWindow window(const Scene& scene, const TopTimeline& timeline) const {
    return time_window(timeline, moment(scene, timeline),
                       std::min(zoom_, most_zoom(timeline)));
  }
  Answer zoom(bool is_in, const TopTimeline& timeline);
  Answer press_letter(char32_t letter, const Scene& scene,
                      const TopTimeline& timeline);
  Answer next_group(const Scene& scene);
  Answer find_event(const Scene& scene, const TopTimeline& timeline,
                    bool is_forward);
  std::string event_words(const Scene& scene,
                          const TopTimeline& timeline) const;
  void count(const Scene& scene);

  int columns_ = 80;
  // Of what is live: a time, since the oldest points go; empty: now.
  std::optional<uint64_t> chosen_;
  TimelineGroup by_ = TimelineGroup::Kind;
  std::string find_;
  KindsAt kinds_;      // at the moment
  uint32_t zoom_ = 0;  // times the time was halved
};

void TimelineView::arrange(const Scene& scene, int columns,
                           const Area& /*area*/) {
  columns_ = columns;
  count(scene);
}

size_t TimelineView::moment(const Scene& scene,
                            const TopTimeline& timeline) const {
  const size_t last = timeline.points.size() - 1;
  if (scene.snapshot->playback)
    return std::min(scene.snapshot->playback->tick_index, last);
  if (!chosen_) return last;
  const uint64_t elapsed = *chosen_ - std::min(*chosen_, timeline.start_ns);
  const auto behind = std::ranges::upper_bound(
      timeline.points, elapsed, {}, &analysis::TopTimelinePoint::elapsed_ns);
  return behind == timeline.points.begin()
             ? 0
             : static_cast<size_t>(behind - timeline.points.begin()) - 1;
}

void TimelineView::choose(const Scene& scene, const TopTimeline& timeline,
                          size_t point) {
  chosen_.reset();
  if (point + 1 < timeline.points.size())
    chosen_ = timeline.start_ns + timeline.points[point].elapsed_ns;
  count(scene);
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
  choose(scene, timeline, static_cast<size_t>(to));
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
  choose(scene, timeline, *found);
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
      return press_letter(key.character, scene, *timeline);
    default:
      return {};
  }
}

Answer TimelineView::press_letter(char32_t letter, const Scene& scene,
                                  const TopTimeline& timeline) {
  switch (letter) {
    case U'p':
    case U'P':
      return go_to_peak(scene, timeline, letter == U'p');
    case U'+':
    case U'=':
      return zoom(true, timeline);
    case U'-':
      return zoom(false, timeline);
    case U'g':
      return next_group(scene);
    case U'n':
    case U'N':
      return find_event(scene, timeline, letter == U'n');
    case U' ':
      return scene.snapshot->playback ? asked(Wish::PlayOrPause) : Answer{};
    case U'>':
    case U'<':
      if (!scene.snapshot->playback) return {};
      return asked(letter == U'>' ? Wish::Faster : Wish::Slower);
    default:
      return {};
  }
}

Answer TimelineView::next_group(const Scene& scene) {
  if (!kinds_.is_whole)
    return taken("of a moment that has passed only kinds are kept");
  switch (by_) {
    case TimelineGroup::Kind:
      by_ = TimelineGroup::Program;
      break;
    case TimelineGroup::Program:
      by_ = TimelineGroup::Cgroup;
      break;
    case TimelineGroup::Cgroup:
      by_ = TimelineGroup::Kind;
      break;
  }
  count(scene);
  return taken("by " + std::string(by_ == TimelineGroup::Kind ? "kind"
                                   : by_ == TimelineGroup::Program
                                       ? "program"
                                       : "control group"));
}

// To the next thing that happened whose words have this in them.
Answer TimelineView::find_event(const Scene& scene, const TopTimeline& timeline,
                                bool is_forward) {
  if (find_.empty()) return taken("nothing to find; / asks for it");
  const uint64_t now = timeline.points[moment(scene, timeline)].elapsed_ns;
  const analysis::TopEvent* found = nullptr;
  for (const analysis::TopEvent& event : timeline.events) {
    const bool is_there =
        is_forward ? event.elapsed_ns > now : event.elapsed_ns < now;
    if (!is_there ||
        !contains_letters(
            std::string(event_word(event.kind)) + " " + event.words, find_))
      continue;
    found = &event;
    if (is_forward) break;
  }
  if (found == nullptr) {
    return taken("'" + base::visible(find_) + "' happened at no " +
                 (is_forward ? "later" : "earlier") + " moment");
  }
  const auto point =
      std::ranges::lower_bound(timeline.points, found->elapsed_ns, {},
                               &analysis::TopTimelinePoint::elapsed_ns);
  const auto to =
      std::min<int64_t>(point - timeline.points.begin(),
                        static_cast<int64_t>(timeline.points.size()) - 1);
  Answer answer =
      move(scene, timeline, to - static_cast<int64_t>(moment(scene, timeline)));
  answer.message =
      std::string(event_word(found->kind)) + " " + base::visible(found->words);
  return answer;
}

Answer TimelineView::tell(Prompt prompt, const std::string& text, bool is_final,
                          const Scene& scene) {
  const TopTimeline* timeline = timeline_in(scene);
  // A moment of a recording is read as a whole: not at each letter.
  if (prompt != Prompt::Find || !is_final) return {};
  find_ = text;
  if (timeline == nullptr)
    return taken("'" + base::visible(text) + "' is in no row");
  return text.empty() ? taken() : find_event(scene, *timeline, true);
}

std::string TimelineView::copy(const Scene& scene) const {
  const TopTimeline* timeline = timeline_in(scene);
  if (timeline == nullptr) return {};
  std::string text =
      "at " +
      base::clock_duration(
          timeline->points[moment(scene, *timeline)].elapsed_ns) +
      "\tPSS\tMOSTLY\n";
  for (const KindAt& row : kinds_.kinds) {
    text += base::visible(row.name) + "\t" +
            bound_size(row.bytes, kinds_.is_bound) + "\t" + row.mostly + "\n";
  }
  return text + "sum\t" + bound_size(kinds_.sum_bytes, kinds_.is_bound) + "\n";
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

// Of a recording the moment is read as a whole; live only the last one was.
void TimelineView::count(const Scene& scene) {
  kinds_ = {};
  const TopTimeline* timeline = timeline_in(scene);
  if (timeline == nullptr) return;
  const bool is_whole = scene.snapshot->playback || !chosen_;
  kinds_ = kinds_at(*timeline, moment(scene, *timeline),
                    is_whole ? scene.snapshot : nullptr, by_);
}

void TimelineView::draw(Canvas& canvas, const Scene& scene,
                        const Area& area) const {
  const TopTimeline* timeline = timeline_in(scene);
  if (timeline == nullptr) return;
  // Below 14 rows the picture goes.
  const int table_rows = std::clamp(area.rows / 3, 4, 11);
  const int picture_rows = area.rows - table_rows - 5;
  const size_t at = moment(scene, *timeline);
  const TimelineTable table(canvas, scene.look, *timeline, kinds_);
  if (canvas.rows() < 14 || picture_rows < 2)
    return table.draw(at, area.top, area.rows);
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
  picture.draw_cursor(at, bound_size(kinds_.sum_bytes, kinds_.is_bound));
  const int rule = box.row + box.rows + 3;
  draw_rule(canvas, rule);
  table.draw(at, rule + 1, area.top + area.rows - rule - 1);
}

std::string TimelineView::status(const Scene& scene) const {
  const TopTimeline* timeline = timeline_in(scene);
  if (timeline == nullptr)
    return scene.choice ? "no process is meant" : "nothing was read yet";
  std::string words = "sum " + bound_size(kinds_.sum_bytes, kinds_.is_bound);
  const std::string mark =
      mark_words(*timeline, moment(scene, *timeline), kinds_);
  if (!mark.empty()) words += " " + mark;
  const std::string swap = "swapped out " + base::short_size(kinds_.swap_bytes);
  // The sum stands in a wide table; swap has its line in every picture.
  if (columns_ >= 132) {
    words = swap + " beside the sum";
  } else if (mark.empty()) {
    words += " · " + swap;
  }
  if (kinds_.is_bound) words += " · ≤ where sharing was not read";
  const std::string happened = event_words(scene, *timeline);
  if (!happened.empty()) words += " · " + happened;
  return words;
}

// "4,280 of 4,320 ticks": of a recording, where what we cost says little.
std::string TimelineView::status_end(const Scene& scene) const {
  const TopTimeline* timeline = timeline_in(scene);
  if (timeline == nullptr || !scene.snapshot->playback) return {};
  const size_t read = timeline->points.size();
  if (timeline->gap_count == 0) return base::counted(read, "tick", "ticks");
  return base::grouped(read) + " of " +
         base::grouped(read + timeline->gap_count) + " ticks";
}

std::vector<KeyHint> TimelineView::hints(const Scene& scene) const {
  // In ASCII arrows would look like the keys of the speed.
  const bool is_ascii = scene.look.is_ascii();
  std::vector<KeyHint> hints = {{is_ascii ? "arrows" : "←→", "moment"},
                                {"p", "next peak"}};
  const bool is_recorded = scene.snapshot->playback.has_value();
  if (is_recorded)
    hints.insert(hints.end(), {{"Space", "play"}, {"<>", "speed"}});
  hints.insert(hints.end(), {{"+-", "zoom"}, {"g", "group"}, {"/", "find"}});
  if (is_recorded) hints.push_back({"t", "go to time"});
  hints.push_back({"y", "copy"});
  return hints;
}

std::vector<HelpSection> TimelineView::help(const Scene& scene) const {
  std::vector<HelpSection> sections = {
      {"MOMENT",
       {{scene.look.is_ascii() ? "arrows, with Shift" : "← →  with Shift",
         "one column, ten"},
        {"Home End", "first, last"},
        {"p P", "next peak, previous"},
        {"+ -", "half the time, twice"}}},
      {"LOOK",
       {{"g", "by kind, program, cgroup"},
        {"/  n N", "find what happened"},
        {"y", "copy this table"}}}};
  if (!scene.snapshot->playback) return sections;
  sections.front().lines.push_back({"t", "go to a time: 00:41:12, peak, end"});
  sections.push_back(
      {"PLAY", {{"Space", "play, pause"}, {"< >", "half the speed, twice"}}});
  return sections;
}

}  // namespace

std::unique_ptr<View> make_timeline_view() {
  return std::make_unique<TimelineView>();
}

}  // namespace tidemark::view::tui
