#include "view/tui/text_page.h"

#include <algorithm>
#include <utility>

namespace tidemark::view::tui {

void TextPage::show(std::vector<std::string> lines, const Area& area) {
  lines_ = std::move(lines);
  area_ = area;
  first_ = std::min(first_, last_first());
}

// The line that is at the top when the last one is at the foot.
size_t TextPage::last_first() const {
  const auto rows = static_cast<size_t>(std::max(area_.rows, 0));
  return lines_.size() > rows ? lines_.size() - rows : 0;
}

bool TextPage::press(const Key& key) {
  ListCursor cursor;
  cursor.chosen = first_;
  if (!cursor.move(key, last_first() + 1, area_.rows)) return false;
  first_ = cursor.chosen;
  return true;
}

void TextPage::draw(Canvas& canvas) const {
  for (int row = 0; row < area_.rows; ++row) {
    const size_t line = first_ + static_cast<size_t>(row);
    if (line >= lines_.size()) break;
    canvas.put_within(1, area_.top + row, canvas.columns() - 2, lines_[line],
                      paint(line == 0 ? Role::Strong : Role::Plain));
  }
}

std::string TextPage::text() const {
  std::string all;
  for (const std::string& line : lines_)
    all += line + "\n";
  return all;
}

}  // namespace tidemark::view::tui
