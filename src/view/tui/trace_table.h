// The table of the trace view, and the line over it.
#pragma once

#include "analysis/top_trace.h"
#include "view/tui/canvas.h"
#include "view/tui/look.h"
#include "view/tui/trace_rows.h"

namespace tidemark::view::tui {

// Columns end here; 0: it is not shown.
struct TraceLayout {
  int pages = 0;
  int held = 0;
  int peak = 0;
  int rate = 0;
  int trend = 0;  // where it begins
  int trend_cells = 0;
  int name_end = 0;
};
TraceLayout trace_layout(int columns);
// What a click at this column of the heads sorts by.
TraceColumn head_at(int column, int columns);

class TraceTable {
 public:
  TraceTable(Canvas& canvas, const Look& look, const analysis::TopTrace& trace,
             const TraceListing& listing)
      : canvas_(canvas),
        look_(look),
        trace_(trace),
        listing_(listing),
        layout_(trace_layout(canvas.columns())) {}

  // What is held, and every way in which that can be wrong.
  void draw_sums(int at) const;
  // All leaves together over time, so many rows.
  void draw_picture(int at, int rows) const;
  void draw_head(int at) const;
  void draw_row(int at, const TraceRow& row, bool is_chosen) const;

 private:
  void draw_name(int at, const TraceRow& row) const;
  void draw_numbers(int at, const TraceRow& row) const;
  void draw_trend(int at, const TraceRow& row) const;

  Canvas& canvas_;
  const Look& look_;
  const analysis::TopTrace& trace_;
  const TraceListing& listing_;
  TraceLayout layout_;
};

}  // namespace tidemark::view::tui
