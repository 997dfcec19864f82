// The table of processes: which columns fit, and how a row is drawn.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "view/tui/canvas.h"
#include "view/tui/process_tree.h"
#include "view/tui/view.h"

namespace tidemark::view::tui {

struct ColumnWords {
  TopColumn column;
  std::string_view head;
};
// In the order `s` goes through them.
inline constexpr ColumnWords kTableColumns[] = {
    {TopColumn::Pss, "PSS"},       {TopColumn::Private, "PRIVATE"},
    {TopColumn::Shared, "SHARED"}, {TopColumn::Swap, "SWAP"},
    {TopColumn::Peak, "PEAK"},     {TopColumn::Growth, "GROWTH"},
    {TopColumn::Name, "NAME"},     {TopColumn::Task, "TASK"},
};

// Where columns end at this width; 0: not shown.
struct TableLayout {
  int name = 1;
  int indent = 1;             // per level
  std::array<int, 6> ends{};  // of the first six TopColumns
  int trend = 0;              // where it begins
  int trend_cells = 0;
  bool has_task = false;
  int end_of(TopColumn column) const {
    return ends[static_cast<size_t>(column)];
  }
};
TableLayout table_layout(int columns);

// "j:2417", "p:41877"; nothing for other rows.
std::string task_id(const TreeRow& row, const ProcessTree& tree);

// For the time of one drawing.
class ProcessTable {
 public:
  ProcessTable(Canvas& canvas, const Scene& scene, const ProcessTree& tree)
      : canvas_(canvas),
        scene_(scene),
        tree_(tree),
        layout_(table_layout(canvas.columns())) {}

  void draw_head(int at, const TreeOptions& options) const;
  void draw_row(int at, const TreeRow& row, bool is_marked,
                bool is_chosen) const;

 private:
  void draw_name(int at, const TreeRow& row) const;
  void draw_amounts(int at, const TreeRow& row) const;
  void draw_history(int at, const TreeRow& row) const;
  void put(TopColumn column, int at, const model::Amount& amount,
           Role role) const;

  Canvas& canvas_;
  const Scene& scene_;
  const ProcessTree& tree_;
  TableLayout layout_;
};

}  // namespace tidemark::view::tui
