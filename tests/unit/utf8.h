// An independent check of UTF-8 after table 3-7 of the Unicode standard, so
// that the decoder under test is not its own judge.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::test {

// Length of the well-formed sequence at the front of `text`, 0 when ill-formed.
inline size_t utf8_sequence(std::string_view text) {
  const auto in = [&](size_t i, uint8_t low, uint8_t high) {
    return i < text.size() && static_cast<uint8_t>(text[i]) >= low &&
           static_cast<uint8_t>(text[i]) <= high;
  };
  const auto tail = [&](size_t i) { return in(i, 0x80, 0xbf); };
  if (in(0, 0x00, 0x7f)) return 1;
  if (in(0, 0xc2, 0xdf)) return tail(1) ? 2 : 0;
  const bool three = (in(0, 0xe0, 0xe0) && in(1, 0xa0, 0xbf)) ||
                     (in(0, 0xe1, 0xec) && tail(1)) ||
                     (in(0, 0xed, 0xed) && in(1, 0x80, 0x9f)) ||
                     (in(0, 0xee, 0xef) && tail(1));
  if (three) return tail(2) ? 3 : 0;
  const bool four = (in(0, 0xf0, 0xf0) && in(1, 0x90, 0xbf)) ||
                    (in(0, 0xf1, 0xf3) && tail(1)) ||
                    (in(0, 0xf4, 0xf4) && in(1, 0x80, 0x8f));
  return four && tail(2) && tail(3) ? 4 : 0;
}

inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// C0, DEL, and C1 in its two-byte form.
inline bool has_control(std::string_view utf8) {
  for (size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<uint8_t>(utf8[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    if (byte == 0xc2 && i + 1 < utf8.size() &&
        static_cast<uint8_t>(utf8[i + 1]) < 0xa0) {
      return true;
    }
  }
  return false;
}

}  // namespace tidemark::test
