// Lines of text in place of a view, moved through where they do not fit.
#pragma once

#include <string>
#include <vector>

#include "view/tui/view.h"

namespace tidemark::view::tui {

class TextPage {
 public:
  void show(std::vector<std::string> lines, const Area& area);
  // Whether the key was one that moves.
  bool press(const Key& key);
  // The first line is the title.
  void draw(Canvas& canvas) const;
  std::string text() const;

 private:
  size_t last_first() const;

  std::vector<std::string> lines_;
  Area area_;
  size_t first_ = 0;
};

}  // namespace tidemark::view::tui
