#include "view/tui/help_view.h"

#include <algorithm>
#include <string>

namespace tidemark::view::tui {
namespace {

constexpr int kHelpColumns = 70;
constexpr int kKeysColumns = 25;

void draw_box(Canvas& canvas, int left, int top, int columns, int rows,
              const std::string& title) {
  const Paint ink = paint(Role::Plain);
  for (int row = top; row < top + rows; ++row) {
    for (int column = left; column < left + columns; ++column) {
      const bool is_edge = row == top || row == top + rows - 1;
      const bool is_side = column == left || column == left + columns - 1;
      canvas.set(column, row, is_edge ? U'─' : is_side ? U'│' : U' ', ink);
    }
  }
  canvas.set(left, top, U'┌', ink);
  canvas.set(left + columns - 1, top, U'┐', ink);
  canvas.set(left, top + rows - 1, U'└', ink);
  canvas.set(left + columns - 1, top + rows - 1, U'┘', ink);
  canvas.put_within(left + 2, top, columns - 4, title, paint(Role::Strong));
}

}  // namespace

void draw_help(Canvas& canvas, std::string_view view_name,
               const std::vector<HelpSection>& sections) {
  canvas.dim_all();
  int lines = 2;
  for (const HelpSection& section : sections)
    lines += 1 + static_cast<int>(section.lines.size());
  const int columns = std::min(kHelpColumns, canvas.columns());
  const int rows = std::min(lines, std::max(canvas.rows() - 3, 3));
  const int left = (canvas.columns() - columns) / 2;
  const int top = std::min(1, canvas.rows() - rows);
  draw_box(canvas, left, top, columns, rows,
           " " + std::string(view_name) + ": keys ");
  int row = top + 1;
  for (const HelpSection& section : sections) {
    if (row >= top + rows - 1) break;
    canvas.put_within(left + 2, row++, columns - 4, section.title,
                      paint(Role::Dim));
    for (const KeyHint& line : section.lines) {
      if (row >= top + rows - 1) break;
      const int keys = std::min(kKeysColumns, columns / 3);
      canvas.put_within(left + 4, row, keys, line.keys, paint(Role::Strong));
      canvas.put_within(left + 4 + keys, row++, columns - keys - 5, line.does,
                        paint(Role::Plain));
    }
  }
}

}  // namespace tidemark::view::tui
