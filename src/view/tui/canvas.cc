#include "view/tui/canvas.h"

#include <algorithm>

#include "base/escape.h"

namespace tidemark::view::tui {
namespace {

struct AsciiTwin {
  char32_t glyph;
  char32_t ascii;
};
constexpr AsciiTwin kAsciiTwins[] = {
    {U'─', U'-'}, {U'│', U'|'}, {U'┌', U'+'}, {U'┐', U'+'}, {U'└', U'+'},
    {U'┘', U'+'}, {U'▾', U'-'}, {U'▸', U'+'}, {U'▶', U'>'}, {U'▌', U'>'},
    {U'↑', U'^'}, {U'↓', U'v'}, {U'→', U'>'}, {U'←', U'<'}, {U'…', U'.'},
    {U'·', U'-'}, {U'×', U'x'}, {U'≥', U'>'}, {U'┈', U'.'}, {U'╌', U'-'},
    {U'┃', U'|'}, {U'○', U'o'}, {U'●', U'*'}, {U'–', U'-'}, {U'≤', U'<'},
};

char32_t ascii_of(char32_t glyph) {
  if (glyph < 0x80) return glyph;
  for (const AsciiTwin& twin : kAsciiTwins) {
    if (twin.glyph == glyph) return twin.ascii;
  }
  return U'?';
}

}  // namespace

Role role_of(model::Category category) {
  return static_cast<Role>(static_cast<uint8_t>(Role::Kinds) +
                           static_cast<uint8_t>(category));
}

Canvas::Canvas(int columns, int rows)
    : columns_(std::max(columns, 0)),
      rows_(std::max(rows, 0)),
      cells_(static_cast<size_t>(columns_) * static_cast<size_t>(rows_)) {}

bool Canvas::is_inside(int column, int row) const {
  return column >= 0 && column < columns_ && row >= 0 && row < rows_;
}

Cell& Canvas::cell(int column, int row) {
  return cells_[static_cast<size_t>(row) * static_cast<size_t>(columns_) +
                static_cast<size_t>(column)];
}

const Cell& Canvas::at(int column, int row) const {
  return cells_[static_cast<size_t>(row) * static_cast<size_t>(columns_) +
                static_cast<size_t>(column)];
}

void Canvas::set(int column, int row, char32_t glyph, Paint paint) {
  if (is_inside(column, row)) cell(column, row) = {glyph, paint};
}

int Canvas::put(int column, int row, std::string_view utf8, Paint paint) {
  while (!utf8.empty()) {
    const base::Character next = base::take_character(utf8);
    if (next.width == 0) continue;
    if (next.width == 2 && column + 1 >= columns_) {
      // Half a character is none.
      set(column++, row, U' ', paint);
      continue;
    }
    set(column++, row, next.code_point, paint);
    if (next.width == 2) set(column++, row, 0, paint);
  }
  return column;
}

int Canvas::put_within(int column, int row, int columns, std::string_view utf8,
                       Paint paint) {
  if (columns <= 0) return column;
  return put(column, row,
             base::fit_width(utf8, static_cast<size_t>(columns), "…"), paint);
}

void Canvas::put_right(int end_column, int row, std::string_view utf8,
                       Paint paint) {
  put(end_column - static_cast<int>(base::display_width(utf8)), row, utf8,
      paint);
}

void Canvas::fill_row(int row, char32_t glyph, Paint paint) {
  for (int column = 0; column < columns_; ++column)
    set(column, row, glyph, paint);
}

void Canvas::repaint_row(int row, Role back) {
  repaint(0, row, columns_, back);
}

void Canvas::repaint(int column, int row, int columns, Role back) {
  for (int i = column; i < column + columns; ++i) {
    if (is_inside(i, row)) cell(i, row).paint.back = back;
  }
}

void Canvas::dim_all() {
  for (Cell& one : cells_)
    one.paint = {Role::Dim, Role::Terminal, false, false};
}

std::string Canvas::to_text() const {
  std::string text;
  for (int row = 0; row < rows_; ++row) {
    std::string line;
    for (int column = 0; column < columns_; ++column) {
      const char32_t glyph = at(column, row).glyph;
      if (glyph != 0) base::append_utf8(line, glyph);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

void Canvas::fold_to_ascii() {
  for (Cell& one : cells_)
    one.glyph = one.glyph == 0 ? U'?' : ascii_of(one.glyph);
}

}  // namespace tidemark::view::tui
