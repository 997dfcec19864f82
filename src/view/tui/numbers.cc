#include "view/tui/numbers.h"

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

}  // namespace tidemark::view::tui
