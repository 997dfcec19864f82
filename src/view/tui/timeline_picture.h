// Kinds of memory over time with all that stands round them: scale, limit,
// swap, axis, events and the chosen moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/top_timeline.h"
#include "view/tui/canvas.h"
#include "view/tui/look.h"
#include "view/tui/stack_picture.h"

namespace tidemark::view::tui {

// The stretch of time that is drawn.
struct TimeWindow {
  uint64_t from_ns = 0;
  uint64_t to_ns = 1;
  bool contains(uint64_t elapsed_ns) const {
    return elapsed_ns >= from_ns && elapsed_ns <= to_ns;
  }
  // Within the window.
  int column_of(uint64_t elapsed_ns, int columns) const;
};

// Each step of `zoom` halves it, round the chosen moment.
TimeWindow time_window(const analysis::TopTimeline& timeline, size_t moment,
                       uint32_t zoom);
// So deep that a window still has a few points.
uint32_t most_zoom(const analysis::TopTimeline& timeline);

// The highest point of each column; empty where none lies.
std::vector<std::optional<size_t>> highest_points(
    const analysis::TopTimeline& timeline, const TimeWindow& window,
    int columns);

// RAM from the foot up; what is swapped out has a line of its own below.
inline constexpr model::Category kTimelineBands[] = {
    model::Category::Heap, model::Category::Anon,  model::Category::Stack,
    model::Category::Shm,  model::Category::File,  model::Category::Code,
    model::Category::Huge, model::Category::Slab,  model::Category::Ptab,
    model::Category::Kern, model::Category::Wired, model::Category::Unnamed,
};

std::string_view event_word(analysis::TopEventKind kind);

// For the time of one drawing. The box is that of the bands.
class TimelinePicture {
 public:
  TimelinePicture(Canvas& canvas, const Look& look,
                  const analysis::TopTimeline& timeline,
                  const TimeWindow& window, const PictureBox& box);

  void draw_bands() const;
  void draw_limit() const;
  void draw_legend(int columns) const;
  void draw_swap() const;  // right below the bands
  void draw_axis(int row) const;
  void draw_events(int row) const;
  // Its flag with this size is right above the bands.
  void draw_cursor(size_t moment, const std::string& size) const;

 private:
  int row_of(uint64_t bytes) const;

  Canvas& canvas_;
  const Look& look_;
  const analysis::TopTimeline& timeline_;
  TimeWindow window_;
  PictureBox box_;
  uint64_t top_bytes_;
  std::vector<std::optional<size_t>> points_;
};

}  // namespace tidemark::view::tui
