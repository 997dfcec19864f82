// Rows of a list that are known again by their keys: the highlight follows the
// item, not the line; rows open, are marked and are found by their words.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "view/tui/view.h"

namespace tidemark::view::tui {

struct ListedRow {
  std::string key;    // the same at every reading
  std::string words;  // what a search looks in
};

class RowList {
 public:
  // New rows, or another height of the place they have. What was chosen stays
  // chosen; where it has gone, what took its line is.
  void list(std::vector<ListedRow> rows, int height);
  bool move(const Key& key);
  // A line of the place they are drawn in, from 0. False: no row is there.
  bool choose_line(int line);
  void choose(const std::string& key);  // if it is there

  size_t size() const { return rows_.size(); }
  size_t first() const { return cursor_.first; }
  bool is_chosen(size_t index) const { return index == cursor_.chosen; }
  size_t chosen() const { return cursor_.chosen; }
  const std::string& chosen_key() const { return chosen_key_; }

  Answer find(const std::string& text);  // from the chosen one on
  Answer find_next(bool is_forward);

  bool is_open(const std::string& key) const { return opened_.contains(key); }
  void set_open(const std::string& key, bool is_open);
  bool is_marked(const std::string& key) const { return marked_.contains(key); }
  const std::set<std::string>& marked() const { return marked_; }
  // And goes on to the next.
  void toggle_mark();
  void clear_marks() { marked_.clear(); }

 private:
  void remember();
  Answer find_from(Search search);

  std::vector<ListedRow> rows_;
  int height_ = 0;
  ListCursor cursor_;
  std::string chosen_key_;
  std::string find_;
  std::set<std::string> opened_;
  std::set<std::string> marked_;
};

// Whether letters of `part` follow each other in `text`, whatever their case.
bool contains_letters(const std::string& text, const std::string& part);

// The looks of what is chosen, where it has not the whole row.
void draw_chosen(Canvas& canvas, const Look& look, int column, int row,
                 int columns);
// The mark, and the chosen row's looks.
void draw_row_marks(Canvas& canvas, const Look& look, int row, bool is_marked,
                    bool is_chosen);

}  // namespace tidemark::view::tui
