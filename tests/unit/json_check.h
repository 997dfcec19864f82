// Says whether a text is one JSON value after RFC 8259, and hands out the
// strings in it. Ours, so that the tests need no JSON library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unit/utf8.h"

namespace tidemark::test {

class JsonCheck {
 public:
  explicit JsonCheck(std::string_view text) : rest_(text) {}

  bool is_valid() {
    const bool whole = value();
    blanks();
    return whole && rest_.empty();
  }
  // Keys and string values in the order of the text, escapes undone. A \u
  // escape above U+007F is not undone: the writer has no need of it.
  const std::vector<std::string>& strings() const { return strings_; }

 private:
  void blanks() {
    while (!rest_.empty() && std::string_view(" \t\r\n").find(rest_[0]) !=
                                 std::string_view::npos) {
      rest_.remove_prefix(1);
    }
  }
  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  bool value() {
    blanks();
    if (rest_.empty()) return false;
    switch (rest_[0]) {
      case '{':
        return members('}', true);
      case '[':
        return members(']', false);
      case '"':
        return string();
      case 't':
        return take("true");
      case 'f':
        return take("false");
      case 'n':
        return take("null");
      default:
        return number();
    }
  }
  bool members(char close, bool has_keys) {
    rest_.remove_prefix(1);
    blanks();
    if (take({&close, 1})) return true;
    while (true) {
      blanks();
      if (has_keys && !(string() && (blanks(), take(":")))) return false;
      if (!value()) return false;
      blanks();
      if (take({&close, 1})) return true;
      if (!take(",")) return false;
    }
  }
  bool digits() {
    const size_t before = rest_.size();
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') {
      rest_.remove_prefix(1);
    }
    return rest_.size() < before;
  }
  bool number() {
    take("-");
    if (!take("0") && !digits()) return false;
    if (take(".") && !digits()) return false;
    if (take("e") || take("E")) {
      if (!take("+")) take("-");
      return digits();
    }
    return true;
  }
  bool string() {
    if (!take("\"")) return false;
    std::string plain;
    while (!rest_.empty()) {
      if (take("\"")) {
        strings_.push_back(plain);
        return true;
      }
      if (take("\\")) {
        std::optional<char> c = escaped();
        if (!c) return false;
        plain += *c;
        continue;
      }
      const size_t length = utf8_sequence(rest_);
      if (length == 0 || static_cast<uint8_t>(rest_[0]) < 0x20) return false;
      plain += rest_.substr(0, length);
      rest_.remove_prefix(length);
    }
    return false;
  }
  std::optional<char> escaped() {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    constexpr std::string_view kHex = "0123456789abcdef";
    if (rest_.empty()) return std::nullopt;
    const size_t letter = kLetters.find(rest_[0]);
    if (letter != std::string_view::npos) {
      rest_.remove_prefix(1);
      return kMeant[letter];
    }
    if (!take("u00") || rest_.size() < 2) return std::nullopt;
    const size_t high = kHex.find(rest_[0]);
    const size_t low = kHex.find(rest_[1]);
    if (high > 7 || low > 15) return std::nullopt;
    rest_.remove_prefix(2);
    return static_cast<char>(high * 16 + low);
  }

  std::string_view rest_;
  std::vector<std::string> strings_;
};

}  // namespace tidemark::test
