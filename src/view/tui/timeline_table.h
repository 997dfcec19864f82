// The table below the picture of the timeline: of what kinds the memory of one
// moment was, whose it mostly was, and how each kind went over all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/top_snapshot.h"
#include "analysis/top_timeline.h"
#include "view/tui/canvas.h"
#include "view/tui/look.h"

namespace tidemark::view::tui {

// What the rows of the table are.
enum class TimelineGroup : uint8_t { Kind, Program, Cgroup };

// One row: a kind of memory at the moment, or who has it.
struct KindAt {
  std::string name;
  // Of a program that it has most of.
  model::Category kind = model::Category::Unnamed;
  uint64_t bytes = 0;
  uint64_t private_bytes = 0;  // the rest is shared
  // In ten minutes, or since the first point; empty: not known.
  std::optional<int64_t> growth_bytes;
  std::string mostly;
};

struct KindsAt {
  std::vector<KindAt> kinds;  // largest first
  uint64_t sum_bytes = 0;
  uint64_t swap_bytes = 0;
  bool is_bound = false;  // of some only RSS is known: it is at most so much
  // Who has it, and how much of it alone, is known too: only of the moment that
  // was read as a whole.
  bool is_whole = false;
  TimelineGroup by = TimelineGroup::Kind;
};

// `whole`: what was read at this moment; null: only sums of it are kept.
// Without it there are kinds alone.
KindsAt kinds_at(const analysis::TopTimeline& timeline, size_t moment,
                 const analysis::TopSnapshot* whole,
                 TimelineGroup by = TimelineGroup::Kind);

// "+ 84.3M not explained = 6.11G": what the group had at its highest, which is
// told of that moment alone; empty where no mark is known or it is below the
// sum, since pages that are shared may be charged to others.
std::string mark_words(const analysis::TopTimeline& timeline, size_t moment,
                       const KindsAt& now);

// "KIND", "PROGRAM", "CONTROL GROUP".
std::string_view group_head(TimelineGroup by);

// "6.11G", "≤6.11G".
std::string bound_size(uint64_t bytes, bool is_bound);

// For the time of one drawing.
class TimelineTable {
 public:
  TimelineTable(Canvas& canvas, const Look& look,
                const analysis::TopTimeline& timeline, const KindsAt& now);
  // So many rows from this one on, the first with heads.
  void draw(size_t moment, int row, int rows) const;

 private:
  // Columns that the right ends of numbers stand before; 0: not shown.
  struct Layout {
    int glyph = 1;
    int pss = 0;
    int percent = 0;
    int own = 0;
    int shared = 0;
    int growth = 0;
    int mostly = 0;  // begins
    int mostly_columns = 0;
    int trend = 0;  // begins
    int trend_cells = 0;
  };
  static Layout layout_of(int columns, bool is_whole);
  void draw_head(size_t moment, int row) const;
  void draw_kind(const KindAt& kind, int row) const;
  void draw_rest(size_t first, int row) const;
  void draw_sum(size_t moment, int row) const;
  void put(int end, int row, const std::string& words, Role role) const;

  Canvas& canvas_;
  const Look& look_;
  const analysis::TopTimeline& timeline_;
  const KindsAt& now_;
  Layout layout_;
};

}  // namespace tidemark::view::tui
