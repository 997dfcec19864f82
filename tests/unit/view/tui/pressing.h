// Keys pressed on the screen of `top`, and the row they have chosen.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

#include "unit/view/tui/top_example.h"
#include "view/tui/top.h"

namespace tidemark::view::tui {

inline Request press(Top& top, char32_t letter) {
  return top.press(typed(letter), kNowNs);
}
inline Request press(Top& top, KeyCode code) {
  return top.press({code, 0, 0, 0}, kNowNs);
}

// Answers the question that a letter asks.
inline void answer(Top& top, char32_t question, std::u32string_view words) {
  press(top, question);
  for (char32_t letter : words)
    press(top, letter);
  press(top, KeyCode::Enter);
}

inline std::string text_of(const Top& top) {
  return top.draw(kNowNs).to_text();
}

inline bool shows(const Top& top, std::string_view words) {
  return text_of(top).find(words) != std::string::npos;
}

inline std::string chosen_line(const Top& top) {
  std::istringstream lines(text_of(top));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with(">")) return line;
  }
  return {};
}

}  // namespace tidemark::view::tui
