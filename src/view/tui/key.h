// What a person did, without a terminal.
#pragma once

#include <cstdint>

namespace tidemark::view::tui {

enum class KeyCode : uint8_t {
  None,
  Character,
  Enter,
  Escape,
  Tab,
  BackTab,
  Backspace,
  Up,
  Down,
  Left,
  Right,
  FarLeft,  // with Shift
  FarRight,
  PageUp,
  PageDown,
  Home,
  End,
  Click,
  WheelUp,
  WheelDown,
};

struct Key {
  KeyCode code = KeyCode::None;
  char32_t character = 0;  // of Character
  int column = 0;          // of the mouse
  int row = 0;
  bool operator==(const Key&) const = default;
};
inline Key typed(char32_t character) {
  return {KeyCode::Character, character, 0, 0};
}

}  // namespace tidemark::view::tui
