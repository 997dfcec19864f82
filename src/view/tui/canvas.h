// A screen of cells that views draw on. It knows no terminal: what a role looks
// like is decided when it is flushed, so every view can be compared as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/category.h"

namespace tidemark::view::tui {

// What a colour is for. The kinds of memory come last, in stack order.
enum class Role : uint8_t {
  Terminal,  // its own colour; as a background never painted
  Strong,    // numbers that matter, names of groups
  Plain,
  Dim,  // heads, ids, what is small
  Growth,
  Fall,
  Unknown,  // `?` and lower bounds
  Chosen,   // background of the chosen row
  Kinds,    // the first kind of memory; see role_of()
};
Role role_of(model::Category category);

struct Paint {
  Role fore = Role::Plain;
  Role back = Role::Terminal;
  bool is_bold = false;
  bool is_reversed = false;
  bool operator==(const Paint&) const = default;
};
inline Paint paint(Role fore) {
  return {fore, Role::Terminal, fore == Role::Strong, false};
}

struct Cell {
  char32_t glyph = U' ';  // 0: the right half of a wide character before it
  Paint paint;
  bool operator==(const Cell&) const = default;
};

// Everything is clipped: a view may draw beyond the edges. Marks that combine
// with a letter are left out, since a cell holds one character.
class Canvas {
 public:
  Canvas(int columns, int rows);

  int columns() const { return columns_; }
  int rows() const { return rows_; }
  bool is_inside(int column, int row) const;
  const Cell& at(int column, int row) const;

  void set(int column, int row, char32_t glyph, Paint paint);
  // From this column on; the column behind it comes back.
  int put(int column, int row, std::string_view utf8, Paint paint);
  // At most so many columns; what is cut ends in `…`.
  int put_within(int column, int row, int columns, std::string_view utf8,
                 Paint paint);
  // Ends right before `end_column`.
  void put_right(int end_column, int row, std::string_view utf8, Paint paint);
  void fill_row(int row, char32_t glyph, Paint paint);
  // Keeps what stands there and changes its looks.
  void repaint_row(int row, Role back);
  void repaint(int column, int row, int columns, Role back);
  void dim_all();

  // One line a row, without the blanks at their ends.
  std::string to_text() const;
  // One character for one where the terminal has no more than ASCII.
  void fold_to_ascii();

 private:
  Cell& cell(int column, int row);

  int columns_;
  int rows_;
  std::vector<Cell> cells_;
};

}  // namespace tidemark::view::tui
