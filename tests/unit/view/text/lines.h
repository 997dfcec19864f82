// What every text must be, whoever chose the names in it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/escape.h"
#include "base/text.h"
#include "unit/utf8.h"
#include "view/text/style.h"

namespace tidemark::view {

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty())
    lines.emplace_back(base::take_line(text));
  return lines;
}

inline size_t line_count(std::string_view text) {
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

inline size_t widest_line(std::string_view text) {
  size_t widest = 0;
  for (const std::string& line : lines_of(text)) {
    widest = std::max(widest, base::display_width(line));
  }
  return widest;
}

inline TextStyle ascii() {
  TextStyle style;
  style.utf8 = false;
  return style;
}

// Valid UTF-8 in which only the newline controls the terminal.
inline bool is_harmless(std::string text) {
  std::erase(text, '\n');
  return test::is_utf8(text) && !test::has_control(text);
}

}  // namespace tidemark::view
