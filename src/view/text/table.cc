#include "view/text/table.h"

#include <algorithm>

#include "base/escape.h"

namespace tidemark::view {

Table::Shape Table::whole(bool with_head) const {
  Shape shape;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const size_t head = with_head ? base::display_width(columns_[i].head) : 0;
    shape.columns.push_back(i);
    shape.widths.push_back(std::max(columns_[i].least_width, head));
  }
  for (const std::vector<Cell>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      shape.widths[i] =
          std::max(shape.widths[i], base::display_width(row[i].text));
    }
  }
  return shape;
}

// Appends, and copies no cell: `objects all` has 50,000 of them.
void Table::append_line(const TextStyle& style, const Shape& shape,
                        const std::vector<Cell>& cells, size_t indent,
                        std::string& out) const {
  const Cell blank;
  out.append(indent, ' ');
  size_t used = indent;
  size_t owed = 0;  // blanks that are written only before more text
  std::string cut;
  for (const size_t i : shape.columns) {
    const Cell& cell = i < cells.size() ? cells[i] : blank;
    std::string_view text = cell.text;
    const bool is_last = i == shape.columns.back();
    // A name may end in blanks, or be empty behind its indent.
    while (is_last && text.ends_with(' '))
      text.remove_suffix(1);
    size_t width = base::display_width(text);
    const size_t room =
        std::max<size_t>(style.width - std::min(style.width, used + owed), 8);
    if (is_last && !style.wide && width > room) {
      cut = base::fit_width(text, room, ellipsis(style));
      text = cut;
      width = base::display_width(text);
    }
    const size_t pad = shape.widths[i] - std::min(shape.widths[i], width);
    if (columns_[i].align == Align::Right) owed += pad;
    if (!text.empty()) {
      out.append(owed, ' ');
      used += owed + width;
      owed = 0;
      out += paint(style, cell.ink, text);
    }
    if (columns_[i].align == Align::Left) owed += pad;
    owed += gap_;
  }
  out += '\n';
}

Table::Shape Table::fitted(const TextStyle& style) const {
  constexpr size_t kLeastName = 12;
  Shape shape = whole(true);
  std::vector<size_t>& kept = shape.columns;
  while (!style.wide) {
    size_t used = std::max(kLeastName, columns_[kept.back()].least_width);
    for (size_t i = 0; i + 1 < kept.size(); ++i)
      used += shape.widths[kept[i]] + gap_;
    auto victim = kept.end();
    for (auto one = kept.begin(); one != kept.end(); ++one) {
      const int rank = columns_[*one].drop_rank;
      if (rank > 0 &&
          (victim == kept.end() || rank < columns_[*victim].drop_rank)) {
        victim = one;
      }
    }
    if (used <= style.width || victim == kept.end()) break;
    kept.erase(victim);
  }
  return shape;
}

std::string Table::render(const TextStyle& style, bool header_again) const {
  return render_with_head(style, fitted(style), header_again, 0);
}

std::string Table::render_indented(const TextStyle& style,
                                   size_t indent) const {
  return render_with_head(style, whole(true), false, indent);
}

std::string Table::render_with_head(const TextStyle& style, const Shape& shape,
                                    bool header_again, size_t indent) const {
  std::vector<Cell> head;
  for (const Column& column : columns_) {
    head.push_back({column.head, Ink::Dim});
  }
  std::string out;
  append_line(style, shape, head, indent, out);
  for (const std::vector<Cell>& row : rows_)
    append_line(style, shape, row, indent, out);
  if (header_again) append_line(style, shape, head, indent, out);
  return out;
}

std::string Table::render_bare(const TextStyle& style, size_t indent) const {
  const Shape shape = whole(false);
  std::string out;
  for (const std::vector<Cell>& row : rows_)
    append_line(style, shape, row, indent, out);
  return out;
}

}  // namespace tidemark::view
