#include "parse/trace_flags.h"

#include <cctype>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace tidemark::parse {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The part of C that these values are written in: numbers, |, &, <<, ~,
// parentheses and casts, which change nothing here.
class Expression {
 public:
  explicit Expression(std::string_view text) : rest_(text) {}

  // All of the text, or nothing.
  std::optional<uint64_t> value() {
    const std::optional<uint64_t> result = either(0);
    skip_blanks();
    if (!rest_.empty()) return std::nullopt;
    return result;
  }

 private:
  // What a kernel writes has some twenty levels.
  static constexpr int kDeepest = 100;

  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::optional<uint64_t> either(int depth) {
    std::optional<uint64_t> left = both(depth);
    while (left && take("|")) {
      const std::optional<uint64_t> right = both(depth);
      if (!right) return std::nullopt;
      *left |= *right;
    }
    return left;
  }
  std::optional<uint64_t> both(int depth) {
    std::optional<uint64_t> left = shifted(depth);
    while (left && take("&")) {
      const std::optional<uint64_t> right = shifted(depth);
      if (!right) return std::nullopt;
      *left &= *right;
    }
    return left;
  }
  std::optional<uint64_t> shifted(int depth) {
    std::optional<uint64_t> left = single(depth);
    while (left && take("<<")) {
      const std::optional<uint64_t> right = single(depth);
      constexpr uint64_t kMostBits = 63;
      if (!right || *right > kMostBits) return std::nullopt;
      *left <<= *right;
    }
    return left;
  }
  std::optional<uint64_t> single(int depth) {
    if (depth > kDeepest) return std::nullopt;
    if (take("~")) {
      const std::optional<uint64_t> value = single(depth + 1);
      if (!value) return std::nullopt;
      return ~*value;
    }
    if (take_cast()) return single(depth + 1);
    if (!take("(")) return number();
    const std::optional<uint64_t> value = either(depth + 1);
    if (!take(")")) return std::nullopt;
    return value;
  }
  // Parentheses with nothing but names in them.
  bool take_cast() {
    skip_blanks();
    if (rest_.empty() || rest_.front() != '(') return false;
    const size_t end = rest_.find(')');
    if (end == std::string_view::npos) return false;
    const std::string_view inside = base::trim(rest_.substr(1, end - 1));
    if (inside.empty() ||
        std::isdigit(static_cast<unsigned char>(inside.front())) != 0) {
      return false;
    }
    for (char c : inside) {
      if (!is_word(c) && c != ' ') return false;
    }
    rest_.remove_prefix(end + 1);
    return true;
  }
  std::optional<uint64_t> number() {
    skip_blanks();
    int base = 10;
    if (rest_.starts_with("0x")) {
      base = 16;
      rest_.remove_prefix(2);
    }
    uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    while (!rest_.empty() && (rest_.front() == 'U' || rest_.front() == 'u' ||
                              rest_.front() == 'L' || rest_.front() == 'l')) {
      rest_.remove_prefix(1);
    }
    if (!rest_.empty() && is_word(rest_.front())) return std::nullopt;
    return value;
  }

  std::string_view rest_;
};

}  // namespace

std::vector<TraceFlag> parse_trace_flags(std::string_view format) {
  constexpr std::string_view kBegin = "__print_flags(";
  std::vector<TraceFlag> flags;
  const size_t begin = format.find(kBegin);
  if (begin == std::string_view::npos) return flags;
  format.remove_prefix(begin + kBegin.size());
  while (true) {
    base::take_until(format, '{');
    if (format.empty()) return flags;
    std::string_view entry = base::take_until(format, '}');
    const std::string_view expression = base::take_until(entry, ',');
    std::string_view name = base::trim(entry);
    if (name.size() < 3 || name.front() != '"' || name.back() != '"') continue;
    name = name.substr(1, name.size() - 2);
    const std::optional<uint64_t> bits = Expression(expression).value();
    if (bits) flags.push_back({std::string(name), *bits});
  }
}

}  // namespace tidemark::parse
