#include "base/pattern.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tidemark::base {
namespace {

std::string words_of(std::regex_constants::error_type code) {
  namespace rc = std::regex_constants;
  switch (code) {
    case rc::error_brack:
      return "a '[' without its ']'";
    case rc::error_paren:
      // Also what the library says of "*a".
      return "parentheses that do not match, or a repeat of nothing";
    case rc::error_brace:
    case rc::error_badbrace:
      return "a '{' that is no count of repeats";
    case rc::error_badrepeat:
      return "a repeat of nothing";
    case rc::error_range:
      return "a range that ends before it begins";
    case rc::error_escape:
      return "a backslash before something that has no such meaning";
    case rc::error_ctype:
    case rc::error_collate:
      return "a class of characters that does not exist";
    case rc::error_complexity:
    case rc::error_backref:
      return "back-references are not taken: they have no bound in time";
    default:
      return "it is too large";
  }
}

// A count in braces, "{2,30}", whose first digit is at `at`: the larger number.
// Leaves `at` at the closing brace.
uint64_t take_count(std::string_view text, size_t& at) {
  constexpr uint64_t kMany = 1000000;
  uint64_t largest = 1;
  uint64_t number = 0;
  for (; at < text.size() && text[at] != '}'; ++at) {
    const bool is_digit = text[at] >= '0' && text[at] <= '9';
    number = is_digit ? number * 10 + static_cast<uint64_t>(text[at] - '0') : 0;
    number = std::min(number, kMany);
    largest = std::max(largest, number);
  }
  return largest;
}

// About how many characters it has once its repeats are written out, which is
// what the library does: its matcher goes as deep as that is long.
uint64_t written_out(std::string_view text) {
  constexpr uint64_t kMany = 1000000;
  std::vector<uint64_t> open = {0};  // of each group that is open
  uint64_t last = 0;                 // what a repeat would repeat
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '(':
        open.push_back(0);
        continue;
      case ')':
        if (open.size() == 1) continue;
        last = open.back() + 1;
        open.pop_back();
        break;
      case '{': {
        const uint64_t count = take_count(text, ++i);
        open.back() = std::min(kMany, open.back() + last * (count - 1));
        last = std::min(kMany, last * count);
        continue;
      }
      case '\\':
        ++i;
        last = 1;
        break;
      default:
        last = 1;
    }
    open.back() = std::min(kMany, open.back() + last);
  }
  uint64_t sum = 0;
  for (uint64_t group : open)
    sum += group;
  return sum;
}

// Found before the library sees it, which overflows on one with many digits.
bool has_back_reference(std::string_view text) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') continue;
    ++i;
    if (text[i] >= '1' && text[i] <= '9') return true;
  }
  return false;
}

}  // namespace

Result<Pattern> Pattern::compile(std::string_view text) {
  Pattern pattern;
  pattern.text_ = text;
  if (text.empty()) return pattern;
  if (text.size() > kMostBytes) {
    return fail(ErrorKind::Malformed,
                "it is longer than " + std::to_string(kMostBytes) + " bytes");
  }
  constexpr uint64_t kMostWrittenOut = 4000;
  if (written_out(text) > kMostWrittenOut) {
    return fail(ErrorKind::Malformed,
                "it is too large with its repeats written out");
  }
  if (has_back_reference(text)) {
    return fail(ErrorKind::Malformed,
                words_of(std::regex_constants::error_backref));
  }
  // std::regex has no other way to say what is wrong. __polynomial is
  // libstdc++'s name for the matcher without backtracking: with the usual one
  // "(a+)+b" took 1.4 s on 24 letters, and twice that on each one more.
  try {
    pattern.expression_.emplace(
        pattern.text_,
        std::regex::ECMAScript | std::regex_constants::__polynomial);
  } catch (const std::regex_error& error) {
    return fail(ErrorKind::Malformed, words_of(error.code()));
  }
  return pattern;
}

bool Pattern::matches(std::string_view name) const {
  if (!expression_) return true;
  name = name.substr(0, kMostNameBytes);
  return std::regex_match(name.begin(), name.end(), *expression_);
}

}  // namespace tidemark::base
