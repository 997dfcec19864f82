#include "base/json.h"

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/escape.h"

namespace tidemark::base {
namespace {

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  for (char c : valid_utf8(bytes)) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
}

template <typename Number>
void append_number(std::string& out, Number value) {
  std::array<char, 40> digits{};
  std::to_chars_result end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end.ptr);
}

}  // namespace

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  if (!levels_.back().is_empty) text_ += ',';
  levels_.back().is_empty = false;
  if (layout_ == Layout::Pretty) {
    text_ += '\n';
    text_.append(levels_.size() * 2, ' ');
  }
}

void JsonWriter::open(char bracket) {
  before_value();
  text_ += bracket;
  levels_.emplace_back();
}

void JsonWriter::close(char bracket) {
  assert(!levels_.empty() && !after_key_);
  const bool was_empty = levels_.back().is_empty;
  levels_.pop_back();
  if (layout_ == Layout::Pretty && !was_empty) {
    text_ += '\n';
    text_.append(levels_.size() * 2, ' ');
  }
  text_ += bracket;
}

void JsonWriter::begin_object() {
  open('{');
}
void JsonWriter::end_object() {
  close('}');
}
void JsonWriter::begin_array() {
  open('[');
}
void JsonWriter::end_array() {
  close(']');
}

void JsonWriter::key(std::string_view name) {
  string(name);
  text_ += layout_ == Layout::Pretty ? ": " : ":";
  after_key_ = true;
}

void JsonWriter::string(std::string_view bytes) {
  before_value();
  text_ += '"';
  append_escaped(text_, bytes);
  text_ += '"';
}

void JsonWriter::number(uint64_t value) {
  before_value();
  append_number(text_, value);
}

void JsonWriter::number(int64_t value) {
  before_value();
  append_number(text_, value);
}

void JsonWriter::number(double value) {
  if (!std::isfinite(value)) return null();  // JSON has no word for it
  before_value();
  append_number(text_, value);
}

void JsonWriter::boolean(bool value) {
  before_value();
  text_ += value ? "true" : "false";
}

void JsonWriter::null() {
  before_value();
  text_ += "null";
}

void JsonWriter::member(std::string_view name, std::string_view value) {
  key(name);
  string(value);
}

void JsonWriter::member(std::string_view name, const char* value) {
  member(name, std::string_view(value));
}

void JsonWriter::member(std::string_view name, bool value) {
  key(name);
  boolean(value);
}

void JsonWriter::member(std::string_view name, double value) {
  key(name);
  number(value);
}

std::string JsonWriter::take() {
  assert(levels_.empty());
  text_ += '\n';
  return std::exchange(text_, {});
}

}  // namespace tidemark::base
