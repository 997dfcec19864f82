#include "view/text/style.h"

#include "analysis/composition.h"
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

BestMark best_of(const model::Amount& amount) {
  return {amount.is_lower_bound(), amount.has_bound, amount.has_estimate};
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

std::string_view mark_of(const TextStyle& style, const BestMark& best) {
  if (best.lacks_part) return at_least(style);
  if (best.has_bound) return style.utf8 ? "≤" : "<=";
  return best.has_estimate ? "~" : "";
}

std::string dense(const TextStyle& style, const model::Amount& amount) {
  if (amount.is_unknown()) return "?";
  return std::string(mark_of(style, best_of(amount))) +
         base::short_size(amount.bytes, style.unit);
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
  return spelled(style, amount.bytes, best_of(amount));
}

std::string spelled(const TextStyle& style, uint64_t bytes,
                    const BestMark& best) {
  std::string mark(mark_of(style, best));
  if (!mark.empty() && mark != "~") mark += ' ';
  return mark + base::long_size(bytes, style.unit);
}

std::string pss_text(const TextStyle& style, const analysis::Bytes& bytes) {
  return spelled(
      style, bytes.pss,
      {.has_bound = bytes.bounded > 0, .has_estimate = bytes.estimated > 0});
}

std::string spelled(const TextStyle& style, uint64_t bytes) {
  return base::long_size(bytes, style.unit);
}

std::string spelled_signed(const TextStyle& style, int64_t bytes) {
  return (bytes < 0 ? "-" : "") + base::long_size(magnitude(bytes), style.unit);
}

}  // namespace tidemark::view
