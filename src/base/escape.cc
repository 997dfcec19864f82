#include "base/escape.h"

#include <algorithm>
#include <cstdint>

namespace tidemark::base {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

struct Decoded {
  uint32_t code_point = 0;
  size_t length = 0;  // bytes taken; 0 when the first byte is not valid UTF-8
};

// Strict: overlong forms, surrogates and values above U+10FFFF are invalid.
Decoded decode_utf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
  uint32_t code_point = first & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code_point = code_point << 6 | (byte(i) & 0x3fU);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  if (code_point < kLeast[length] || code_point > 0x10ffff || surrogate) {
    return {};
  }
  return {code_point, length};
}

// Characters that act on the terminal or hide from the reader instead of
// showing themselves.
bool acts_on_terminal(uint32_t c) {
  if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad) return true;
  if (c == 0x61c || (c >= 0x200b && c <= 0x200f)) return true;  // zero width
  if (c >= 0x2028 && c <= 0x202e) return true;  // separators, embeddings
  if (c >= 0x2060 && c <= 0x206f) return true;  // joiners, isolates
  if (c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb)) return true;
  return (c >= 0xe0000 && c <= 0xe007f);  // tags
}

void append_byte_escape(std::string& out, uint8_t byte) {
  out += "\\x";
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 15];
}

void append_escape(std::string& out, uint32_t c) {
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c < 0x100) {
    append_byte_escape(out, static_cast<uint8_t>(c));
  } else {
    out += c > 0xffff ? "\\U" : "\\u";
    for (int shift = c > 0xffff ? 28 : 12; shift >= 0; shift -= 4) {
      out += kHexDigits[(c >> shift) & 15];
    }
  }
}

bool is_wide(uint32_t c) {
  return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
         (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
         (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
         (c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1faff) ||
         (c >= 0x20000 && c <= 0x3fffd);
}

bool is_combining(uint32_t c) {
  return (c >= 0x300 && c <= 0x36f) || (c >= 0x1ab0 && c <= 0x1aff) ||
         (c >= 0x1dc0 && c <= 0x1dff) || (c >= 0x20d0 && c <= 0x20ff) ||
         (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xfe20 && c <= 0xfe2f);
}

size_t width_of(uint32_t c) {
  return is_combining(c) ? 0 : is_wide(c) ? 2 : 1;
}

// Nearly every name is plain ASCII: copy it in one piece.
bool is_plain_ascii(std::string_view bytes) {
  return std::ranges::all_of(bytes,
                             [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::string visible(std::string_view bytes) {
  if (is_plain_ascii(bytes)) return std::string(bytes);
  std::string out;
  while (!bytes.empty()) {
    Decoded next = decode_utf8(bytes);
    if (next.length == 0) {
      append_byte_escape(out, static_cast<uint8_t>(bytes[0]));
      next.length = 1;
    } else if (acts_on_terminal(next.code_point)) {
      append_escape(out, next.code_point);
    } else {
      out += bytes.substr(0, next.length);
    }
    bytes.remove_prefix(next.length);
  }
  return out;
}

std::string valid_utf8(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    Decoded next = decode_utf8(bytes);
    if (next.length == 0) {
      append_byte_escape(out, static_cast<uint8_t>(bytes[0]));
      next.length = 1;
    } else {
      out += bytes.substr(0, next.length);
    }
    bytes.remove_prefix(next.length);
  }
  return out;
}

std::string csv_field(std::string_view bytes) {
  std::string text = visible(bytes);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

Character take_character(std::string_view& utf8) {
  const Decoded next = decode_utf8(utf8);
  utf8.remove_prefix(next.length == 0 ? 1 : next.length);
  if (next.length == 0) return {U'\ufffd', 1};
  return {static_cast<char32_t>(next.code_point), width_of(next.code_point)};
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto c = static_cast<uint32_t>(code_point);
  const auto tail = [&](uint32_t shift) {
    out += static_cast<char>(0x80U | (c >> shift & 0x3fU));
  };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0U | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0U | c >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0U | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

size_t display_width(std::string_view utf8) {
  // Nearly every cell of every table, and a tenth of the work.
  if (is_plain_ascii(utf8)) return utf8.size();
  size_t width = 0;
  while (!utf8.empty()) {
    Decoded next = decode_utf8(utf8);
    width += next.length == 0 ? 1 : width_of(next.code_point);
    utf8.remove_prefix(next.length == 0 ? 1 : next.length);
  }
  return width;
}

std::string fit_width(std::string_view utf8, size_t columns,
                      std::string_view ellipsis) {
  if (display_width(utf8) <= columns) return std::string(utf8);
  if (display_width(ellipsis) > columns) ellipsis = {};
  const size_t room = columns - display_width(ellipsis);
  size_t taken = 0;
  size_t width = 0;
  while (taken < utf8.size()) {
    Decoded next = decode_utf8(utf8.substr(taken));
    const size_t step = next.length == 0 ? 1 : width_of(next.code_point);
    if (width + step > room) break;
    width += step;
    taken += next.length == 0 ? 1 : next.length;
  }
  return std::string(utf8.substr(0, taken)) + std::string(ellipsis);
}

}  // namespace tidemark::base
