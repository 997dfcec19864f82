#include "view/text/table.h"

#include <algorithm>

#include "base/escape.h"

namespace tidemark::view {
std::vector<size_t> Table::widths(bool with_head) const {
  std::vector<size_t> result;
  for (const Column& column : columns_) {
    const size_t head = with_head ? base::display_width(column.head) : 0;
    result.push_back(std::max(column.least_width, head));
  }
  for (const std::vector<Cell>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      result[i] = std::max(result[i], base::display_width(row[i].text));
    }
  }
  return result;
}

std::string Table::line(const TextStyle& style,
                        const std::vector<size_t>& widths,
                        const std::vector<Cell>& cells, size_t indent) const {
  std::string out(indent, ' ');
  size_t used = indent;
  size_t owed = 0;  // blanks that are written only before more text
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Cell cell = i < cells.size() ? cells[i] : Cell{};
    std::string text = cell.text;
    const bool is_last = i + 1 == columns_.size();
    // A name may end in blanks, or be empty behind its indent.
    while (is_last && text.ends_with(' '))
      text.pop_back();
    if (is_last && !style.wide) {
      const size_t room = style.width - std::min(style.width, used + owed);
      text = base::fit_width(text, std::max<size_t>(room, 8), ellipsis(style));
    }
    const size_t width = base::display_width(text);
    const size_t pad = widths[i] - std::min(widths[i], width);
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
  return out;
}

Table Table::fitted(const TextStyle& style) const {
  constexpr size_t kLeastName = 12;
  Table table = *this;
  while (!style.wide) {
    const std::vector<size_t> sizes = table.widths(true);
    size_t used = std::max(kLeastName, table.columns_.back().least_width);
    for (size_t i = 0; i + 1 < sizes.size(); ++i)
      used += sizes[i] + gap_;
    size_t victim = sizes.size();
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int rank = table.columns_[i].drop_rank;
      if (rank > 0 &&
          (victim == sizes.size() || rank < table.columns_[victim].drop_rank)) {
        victim = i;
      }
    }
    if (used <= style.width || victim == sizes.size()) break;
    const auto at = static_cast<ptrdiff_t>(victim);
    table.columns_.erase(table.columns_.begin() + at);
    for (std::vector<Cell>& row : table.rows_) {
      if (victim < row.size()) row.erase(row.begin() + at);
    }
  }
  return table;
}

std::string Table::render(const TextStyle& style, bool header_again) const {
  return fitted(style).render_whole(style, header_again, 0);
}

std::string Table::render_indented(const TextStyle& style,
                                   size_t indent) const {
  return render_whole(style, false, indent);
}

std::string Table::render_whole(const TextStyle& style, bool header_again,
                                size_t indent) const {
  std::vector<Cell> head;
  for (const Column& column : columns_) {
    head.push_back({column.head, Ink::Dim});
  }
  const std::vector<size_t> sizes = widths(true);
  const std::string head_line = line(style, sizes, head, indent);
  std::string out = head_line;
  for (const std::vector<Cell>& row : rows_)
    out += line(style, sizes, row, indent);
  if (header_again) out += head_line;
  return out;
}

std::string Table::render_bare(const TextStyle& style, size_t indent) const {
  const std::vector<size_t> sizes = widths(false);
  std::string out;
  for (const std::vector<Cell>& row : rows_) {
    out += line(style, sizes, row, indent);
  }
  return out;
}

}  // namespace tidemark::view
