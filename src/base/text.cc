#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace tidemark::base {
namespace {

template <typename Number>
std::optional<Number> parse_whole(std::string_view token, int radix) {
  Number number = 0;
  const char* end = token.data() + token.size();
  std::from_chars_result result =
      std::from_chars(token.data(), end, number, radix);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

}  // namespace

std::string_view take_until(std::string_view& rest, char stop) {
  size_t end = rest.find(stop);
  std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return taken;
}

std::string_view take_word(std::string_view& rest) {
  size_t start = 0;
  while (start < rest.size() && is_blank(rest[start]))
    ++start;
  size_t end = start;
  while (end < rest.size() && !is_blank(rest[end]))
    ++end;
  std::string_view word = rest.substr(start, end - start);
  rest.remove_prefix(end);
  return word;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  size_t start = text.find_first_not_of(kBlanks);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kBlanks) - start + 1);
}

std::optional<uint64_t> parse_u64(std::string_view token) {
  return parse_whole<uint64_t>(token, 10);
}

std::optional<int64_t> parse_i64(std::string_view token) {
  return parse_whole<int64_t>(token, 10);
}

std::optional<uint64_t> parse_hex(std::string_view token) {
  return parse_whole<uint64_t>(token, 16);
}

std::optional<int32_t> parse_pid(std::string_view token) {
  std::optional<int32_t> pid = parse_whole<int32_t>(token, 10);
  if (!pid || *pid <= 0) return std::nullopt;
  return pid;
}

std::optional<uint64_t> parse_kib(std::string_view value) {
  std::optional<uint64_t> kib = parse_u64(take_word(value));
  if (!kib || take_word(value) != "kB" || !take_word(value).empty()) {
    return std::nullopt;
  }
  if (*kib > std::numeric_limits<uint64_t>::max() / 1024) return std::nullopt;
  return *kib * 1024;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty())
    parts.push_back(take_until(text, separator));
  return parts;
}

std::string_view base_name(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the optimal string alignment table.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1),
      row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace tidemark::base
