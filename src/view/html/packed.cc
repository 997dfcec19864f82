#include "view/html/packed.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "base/gzip.h"

namespace tidemark::view {
namespace {

// Beyond it a browser does not know one number from the next.
constexpr int64_t kMostExact = int64_t{1} << 53;

// The numbers of a list whose "[" was just taken, and the text behind its "]".
// Empty for a list that holds, or may hold, anything else.
std::optional<std::string_view> take_numbers(std::string_view rest,
                                             std::vector<int64_t>& numbers) {
  numbers.clear();
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
    int64_t number = 0;
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || number > kMostExact || number < -kMostExact)
      return std::nullopt;
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
    numbers.push_back(number);
    if (rest.starts_with(']')) return rest.substr(1);
    if (!rest.starts_with(',')) return std::nullopt;
    rest.remove_prefix(1);
  }
}

void append_number(int64_t number, std::string& text) {
  std::array<char, 24> digits{};
  const auto written =
      std::to_chars(digits.data(), digits.data() + digits.size(), number);
  text.append(digits.data(), written.ptr);
}

void append_differences(const std::vector<int64_t>& numbers,
                        std::string& text) {
  int64_t unit = 0;
  for (int64_t number : numbers)
    unit = std::gcd(unit, number);
  if (unit == 0) unit = 1;
  text += "[true,";
  append_number(unit, text);
  int64_t before = 0;
  for (int64_t number : numbers) {
    text += ',';
    append_number((number - before) / unit, text);
    before = number;
  }
  text += ']';
}

// The end of the string whose opening quote was just taken.
size_t string_end(std::string_view rest) {
  size_t at = 0;
  while (at < rest.size() && rest[at] != '"')
    at += rest[at] == '\\' ? 2 : 1;
  return std::min(at + 1, rest.size());
}

}  // namespace

base::Result<std::string> with_differences(std::string_view json) {
  constexpr size_t kLeastNumbers = 4;  // fewer gain nothing
  std::string text;
  text.reserve(json.size() / 2);
  std::vector<int64_t> numbers;
  std::string_view rest = json;
  while (true) {
    const size_t at = rest.find_first_of("[\"");
    text += rest.substr(0, at);
    if (at == std::string_view::npos) return text;
    const char met = rest[at];
    rest.remove_prefix(at + 1);
    if (met == '"') {
      const size_t end = string_end(rest);
      text += '"';
      text += rest.substr(0, end);
      rest.remove_prefix(end);
      continue;
    }
    if (rest.starts_with("true")) {
      return base::fail(base::ErrorKind::Unsupported,
                        "packing a list that begins with true");
    }
    const std::optional<std::string_view> behind = take_numbers(rest, numbers);
    if (!behind || numbers.size() < kLeastNumbers) {
      text += '[';
      continue;
    }
    append_differences(numbers, text);
    rest = *behind;
  }
}

base::Result<std::string> packed(std::string_view json) {
  base::Result<std::string> smaller = with_differences(json);
  if (!smaller) return smaller.error();
  base::Result<std::string> smallest = base::gzip(*smaller);
  if (!smallest) return smallest.error();
  return base::base64(*smallest);
}

}  // namespace tidemark::view
