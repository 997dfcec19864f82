#include "view/text/style.h"

#include "base/escape.h"
#include "base/text.h"

namespace tidemark::view {
namespace {

std::string_view at_least(const TextStyle& style) {
  return style.utf8 ? "≥" : ">=";
}

uint64_t magnitude(int64_t bytes) {
  return bytes < 0 ? uint64_t{0} - static_cast<uint64_t>(bytes)
                   : static_cast<uint64_t>(bytes);
}

}  // namespace

std::string paint(const TextStyle& style, Ink ink, std::string_view text) {
  if (!style.color || ink == Ink::Plain || text.empty()) {
    return std::string(text);
  }
  // Codes every terminal since the VT220 knows; yellow stands for amber.
  const char* code = ink == Ink::Bold ? "1" : ink == Ink::Dim ? "2" : "33";
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string wrapped(const TextStyle& style, Ink ink, size_t indent,
                    std::string_view text) {
  std::string out;
  std::string line(indent, ' ');
  size_t line_indent = indent;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = base::take_until(rest, ' ');
    const bool is_first = line.size() == line_indent;
    const size_t width = base::display_width(line) + base::display_width(word);
    if (!is_first && !style.wide && width + 1 > style.width) {
      out += paint(style, ink, line) + "\n";
      line_indent = indent + 2;
      line.assign(line_indent, ' ');
    } else if (!is_first) {
      line += ' ';
    }
    line += word;
  }
  return out + paint(style, ink, line) + "\n";
}

std::string_view ellipsis(const TextStyle& style) {
  return style.utf8 ? "…" : "...";
}

std::string dense(const TextStyle& style, const model::Amount& amount) {
  if (amount.is_unknown()) return "?";
  std::string size = base::short_size(amount.bytes, style.unit);
  return amount.is_lower_bound() ? std::string(at_least(style)) + size : size;
}

std::string dense(const TextStyle& style, std::optional<uint64_t> bytes) {
  return bytes ? base::short_size(*bytes, style.unit) : "?";
}

std::string dense_signed(const TextStyle& style, std::optional<int64_t> bytes) {
  if (!bytes) return "?";
  return (*bytes < 0 ? "-" : "") +
         base::short_size(magnitude(*bytes), style.unit);
}

std::string spelled(const TextStyle& style, const model::Amount& amount) {
  if (amount.is_unknown()) return "?";
  std::string size = base::long_size(amount.bytes, style.unit);
  if (!amount.is_lower_bound()) return size;
  return std::string(at_least(style)) + " " + size;
}

std::string spelled(const TextStyle& style, uint64_t bytes) {
  return base::long_size(bytes, style.unit);
}

std::string spelled_signed(const TextStyle& style, int64_t bytes) {
  return (bytes < 0 ? "-" : "") + base::long_size(magnitude(bytes), style.unit);
}

}  // namespace tidemark::view
