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

int help_lines(const std::vector<HelpSection>& sections) {
  int lines = 0;
  for (const HelpSection& section : sections)
    lines += 1 + static_cast<int>(section.lines.size());
  return lines;
}

int help_room(int rows) {
  return std::max(rows - 5, 1);
}

void draw_help(Canvas& canvas, std::string_view view_name,
               const std::vector<HelpSection>& sections, int first) {
  canvas.dim_all();
  const int lines = help_lines(sections);
  const int room = std::min(lines, help_room(canvas.rows()));
  const int columns = std::min(kHelpColumns, canvas.columns());
  const int left = (canvas.columns() - columns) / 2;
  const int top = std::min(1, std::max(canvas.rows() - room - 2, 0));
  const bool has_more = first + room < lines;
  draw_box(canvas, left, top, columns, room + 2,
           " " + std::string(view_name) + ": keys ");
  if (has_more || first > 0) {
    canvas.put_right(left + columns - 2, top + room + 1,
                     has_more ? " ↓ more " : " ↑ more ", paint(Role::Strong));
  }
  int row = top + 1 - first;
  const auto is_shown = [&] { return row > top && row <= top + room; };
  const int keys = std::min(kKeysColumns, columns / 3);
  for (const HelpSection& section : sections) {
    if (is_shown()) {
      canvas.put_within(left + 2, row, columns - 4, section.title,
                        paint(Role::Dim));
    }
    ++row;
    for (const KeyHint& line : section.lines) {
      if (is_shown()) {
        canvas.put_within(left + 4, row, keys, line.keys, paint(Role::Strong));
        canvas.put_within(left + 4 + keys, row, columns - keys - 5, line.does,
                          paint(Role::Plain));
      }
      ++row;
    }
  }
}

}  // namespace tidemark::view::tui
