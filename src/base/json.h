// Writes JSON as it goes: no tree is built, every string is escaped, invalid
// UTF-8 cannot get out. Commas and indentation are kept by the writer, so a
// caller can only forget to close what it opened, and that asserts.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::base {

class JsonWriter {
 public:
  enum class Layout { Pretty, OneLine };
  explicit JsonWriter(Layout layout) : layout_(layout) {}

  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  void key(std::string_view name);

  void string(std::string_view bytes);
  void number(uint64_t value);
  void number(int64_t value);
  void number(double value);
  void boolean(bool value);
  void null();

  // Key and value at once; an empty optional becomes null.
  void member(std::string_view name, std::string_view value);
  void member(std::string_view name, const char* value);
  void member(std::string_view name, bool value);
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) void member(std::string_view name, T value) {
    key(name);
    number(static_cast<uint64_t>(value));
  }
  template <std::signed_integral T>
  void member(std::string_view name, T value) {
    key(name);
    number(static_cast<int64_t>(value));
  }
  void member(std::string_view name, double value);
  template <typename T>
  void member(std::string_view name, const std::optional<T>& value) {
    if (value) {
      member(name, *value);
    } else {
      key(name);
      null();
    }
  }

  // The finished text with a final newline; the writer is empty afterwards.
  std::string take();
  // What there is of it by now, for texts too large to be kept whole; the
  // writer goes on behind it. `ready_bytes` tells when that is worth it.
  std::string take_ready() { return std::exchange(text_, {}); }
  size_t ready_bytes() const { return text_.size(); }

 private:
  void before_value();
  void open(char bracket);
  void close(char bracket);

  struct Level {
    bool is_empty = true;
  };
  Layout layout_;
  std::vector<Level> levels_;
  bool after_key_ = false;
  std::string text_;
};

}  // namespace tidemark::base
