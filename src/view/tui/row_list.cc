#include "view/tui/row_list.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/escape.h"

namespace tidemark::view::tui {

bool contains_letters(const std::string& text, const std::string& part) {
  // Not std::ranges::search: clang 14 cannot read libstdc++'s.
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) {
                       return std::tolower(static_cast<unsigned char>(a)) ==
                              std::tolower(static_cast<unsigned char>(b));
                     }) != text.end();
}

void draw_chosen(Canvas& canvas, const Look& look, int column, int row,
                 int columns) {
  if (look.has_color()) canvas.repaint(column, row, columns, Role::Chosen);
  canvas.set(column, row, look.has_color() ? U'▌' : U'>', paint(Role::Strong));
}

void draw_row_marks(Canvas& canvas, const Look& look, int row, bool is_marked,
                    bool is_chosen) {
  if (is_marked) canvas.set(0, row, U'●', paint(Role::Strong));
  if (is_chosen) draw_chosen(canvas, look, 0, row, canvas.columns());
}

void RowList::remember() {
  if (cursor_.chosen < rows_.size()) chosen_key_ = rows_[cursor_.chosen].key;
}

void RowList::list(std::vector<ListedRow> rows, int height) {
  rows_ = std::move(rows);
  height_ = height;
  const auto found = std::ranges::find(rows_, chosen_key_, &ListedRow::key);
  if (!chosen_key_.empty() && found != rows_.end())
    cursor_.chosen = static_cast<size_t>(found - rows_.begin());
  cursor_.settle(rows_.size(), height_);
  remember();
}

void RowList::choose(const std::string& key) {
  const auto found = std::ranges::find(rows_, key, &ListedRow::key);
  if (found == rows_.end()) return;
  cursor_.chosen = static_cast<size_t>(found - rows_.begin());
  cursor_.settle(rows_.size(), height_);
  remember();
}

bool RowList::move(const Key& key) {
  if (!cursor_.move(key, rows_.size(), height_)) return false;
  remember();
  return true;
}

bool RowList::choose_line(int line) {
  if (line < 0 || line >= height_) return false;
  const size_t index = cursor_.first + static_cast<size_t>(line);
  if (index >= rows_.size()) return false;
  cursor_.chosen = index;
  remember();
  return true;
}

Answer RowList::find_from(Search search) {
  if (find_.empty()) return taken("nothing to find; / asks for it");
  const bool is_found = cursor_.find(
      rows_.size(), height_, search,
      [&](size_t i) { return contains_letters(rows_[i].words, find_); });
  if (!is_found) return taken("'" + base::visible(find_) + "' is in no row");
  remember();
  return taken();
}

Answer RowList::find(const std::string& text) {
  find_ = text;
  return text.empty() ? taken() : find_from({true, true});
}

Answer RowList::find_next(bool is_forward) {
  return find_from({is_forward, false});
}

void RowList::set_open(const std::string& key, bool is_open) {
  if (is_open) {
    opened_.insert(key);
  } else {
    opened_.erase(key);
  }
}

void RowList::toggle_mark() {
  if (rows_.empty()) return;
  if (marked_.erase(chosen_key_) == 0) marked_.insert(chosen_key_);
  cursor_.chosen += 1;
  cursor_.settle(rows_.size(), height_);
  remember();
}

}  // namespace tidemark::view::tui
