// What stands round every view: the first three rows and the last two.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "view/tui/canvas.h"
#include "view/tui/view.h"

namespace tidemark::view::tui {

struct Tab {
  char32_t number;
  std::string_view name;
  bool is_active = false;
};

struct Frame {
  std::vector<Tab> tabs;
  std::string state;       // "live 1 s", "frozen"
  std::string status;      // left part of the status line
  std::string status_end;  // its right part; empty: what we cost
  bool is_message = false;
  std::vector<KeyHint> hints;
  bool has_ledger_line = true;
};

// The rows that are left for the view.
Area view_area(int rows);

void draw_frame(Canvas& canvas, const Scene& scene, const Frame& frame);

// The tab at this column of the second row; its number, or 0.
char32_t tab_at(const std::vector<Tab>& tabs, int columns, int column);

// Kinds of memory side by side, closing to all RAM.
void draw_ledger_bar(Canvas& canvas, const Look& look,
                     const analysis::TopMachine& machine, int column, int row,
                     int cells);

void draw_rule(Canvas& canvas, int row);

}  // namespace tidemark::view::tui
