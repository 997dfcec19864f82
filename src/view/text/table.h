// Columns that line up. Cells hold visible() text; the table knows their
// width, pads them, and cuts only the last column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "view/text/style.h"

namespace tidemark::view {

enum class Align { Left, Right };

struct Column {
  std::string head;
  Align align = Align::Right;
  size_t least_width = 0;
  // Where the line is too narrow for the last column, those with the lowest
  // rank go first; 0 stays.
  int drop_rank = 0;
};

struct Cell {
  std::string text;
  Ink ink = Ink::Plain;
};

class Table {
 public:
  // `gap` blanks part two columns.
  explicit Table(std::vector<Column> columns, size_t gap = 2)
      : columns_(std::move(columns)), gap_(gap) {}

  // One cell per column; missing ones are blank.
  void add_row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }

  // Numbers are never cut: whole columns go, and then names.
  // `header_again` repeats the head as the last line, as Fuchsia's tools do.
  std::string render(const TextStyle& style, bool header_again) const;
  // With a head, each line after `indent`.
  std::string render_indented(const TextStyle& style, size_t indent) const;
  // Without a head, each line after `indent`.
  std::string render_bare(const TextStyle& style, size_t indent) const;

 private:
  // Which columns are printed, by their index, and how wide every one is.
  struct Shape {
    std::vector<size_t> columns;
    std::vector<size_t> widths;
  };
  Shape whole(bool with_head) const;
  Shape fitted(const TextStyle& style) const;
  std::string render_with_head(const TextStyle& style, const Shape& shape,
                               bool header_again, size_t indent) const;
  void append_line(const TextStyle& style, const Shape& shape,
                   const std::vector<Cell>& cells, size_t indent,
                   std::string& out) const;

  std::vector<Column> columns_;
  size_t gap_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace tidemark::view
