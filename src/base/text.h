// Consuming text from the front. Parsers take a string_view apart with these
// and never copy, never depend on the locale and never accept half a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::base {

// Returns what precedes the first `stop` and removes it and the stop from
// `rest`. Without a stop everything is taken.
std::string_view take_until(std::string_view& rest, char stop);

// One line without its newline.
inline std::string_view take_line(std::string_view& rest) {
  return take_until(rest, '\n');
}

// The next run of characters that are neither blank nor tab; empty at the end.
std::string_view take_word(std::string_view& rest);

std::string_view trim(std::string_view text);

// The whole token must be a number that fits: no sign, no blanks, no unit.
std::optional<uint64_t> parse_u64(std::string_view token);
std::optional<int64_t> parse_i64(std::string_view token);
std::optional<uint64_t> parse_hex(std::string_view token);
std::optional<int32_t> parse_pid(std::string_view token);

// "   1234 kB" to bytes. Refuses other units and overflow.
std::optional<uint64_t> parse_kib(std::string_view value);

std::vector<std::string_view> split(std::string_view text, char separator);

// What follows the last slash; the whole text when there is none.
std::string_view base_name(std::string_view path);

// Edits (insert, drop, replace, swap of neighbours) from `a` to `b`: small for
// a typo.
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace tidemark::base
