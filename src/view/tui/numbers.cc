#include "view/tui/numbers.h"

#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "view/text/style.h"

namespace tidemark::view::tui {

void put_amount(Canvas& canvas, const Look& look, int end_column, int row,
                const model::Amount& amount, Paint ink) {
  TextStyle style;
  style.utf8 = !look.is_ascii();
  if (amount.has_unknown) ink.fore = Role::Unknown;
  canvas.put_right(end_column, row, dense(style, amount), ink);
}

std::string signed_size(std::optional<int64_t> bytes) {
  if (!bytes) return "?";
  return (*bytes > 0 ? "+" : "") + dense_signed({}, bytes);
}

void put_growth(Canvas& canvas, int end_column, int row,
                std::optional<int64_t> bytes) {
  Role role = Role::Unknown;
  if (bytes)
    role = *bytes > 0 ? Role::Growth : *bytes < 0 ? Role::Fall : Role::Dim;
  canvas.put_right(end_column, row, signed_size(bytes), paint(role));
}

std::string age_words(uint64_t ns) {
  const uint64_t seconds = ns / base::kNsPerSecond;
  if (seconds < 100) return std::to_string(seconds) + " s";
  return std::to_string(seconds / 60) + " min";
}

std::string time_of_day(uint64_t realtime_ns) {
  const std::string local = base::local_time(realtime_ns);
  const size_t begin = local.find('T');
  return begin == std::string::npos ? local : local.substr(begin + 1, 8);
}

std::string bounds_for(const Look& look, std::string words) {
  if (!look.is_ascii()) return words;
  for (const auto& [bound, ascii] :
       {std::pair<std::string_view, std::string_view>{"≥", ">="},
        {"≤", "<="}}) {
    for (size_t at = words.find(bound); at != std::string::npos;
         at = words.find(bound, at + ascii.size()))
      words.replace(at, bound.size(), ascii);
  }
  return words;
}

std::string span_words(const analysis::TopSnapshot& snapshot) {
  const uint64_t seconds =
      snapshot.history ? snapshot.history->span_ns() / 1'000'000'000 : 0;
  return seconds >= 60 ? std::to_string(seconds / 60) + " min"
                       : std::to_string(seconds) + " s";
}

std::string growth_head(const analysis::TopSnapshot& snapshot) {
  std::string words = span_words(snapshot);
  if (words.ends_with(" s")) return words.substr(0, words.size() - 1) + "SEC";
  return words.substr(0, words.size() - 3) + "MIN";
}

std::string scale_size(uint64_t bytes) {
  std::string words = base::short_size(bytes);
  const size_t point = words.find('.');
  if (point == std::string::npos) return words;
  const char unit = words.back();
  words.pop_back();
  while (words.back() == '0')
    words.pop_back();
  if (words.back() == '.') words.pop_back();
  return words + unit;
}

}  // namespace tidemark::view::tui
