#include "base/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace tidemark::base {
namespace {

constexpr std::array<std::string_view, 7> kLetters = {"B", "K", "M", "G",
                                                      "T", "P", "E"};
constexpr std::array<std::string_view, 7> kIecNames = {
    "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

std::string with_decimals(double number, int decimals) {
  std::array<char, 64> text{};
  int length =
      std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
  return std::string(text.data(), static_cast<size_t>(length));
}

struct Scaled {
  std::string number;
  size_t unit = 0;  // index into the tables above
};

// 999.5 and not 1024 is the step to the next unit, so that no number has four
// digits: 1000 MiB is 0.98 GiB.
Scaled scale(uint64_t bytes) {
  double number = static_cast<double>(bytes);
  size_t unit = 0;
  while (number >= 999.5 && unit + 1 < kLetters.size()) {
    number /= 1024;
    ++unit;
  }
  // 9.995 already rounds to 10.0: the digits are chosen by the rounded value.
  const int decimals = unit == 0 || number >= 99.95 ? 0
                       : number >= 9.995            ? 1
                                                    : 2;
  return {with_decimals(number, decimals), unit};
}

Scaled scale_to(uint64_t bytes, SizeUnit unit) {
  const size_t index = static_cast<size_t>(unit) - 1;
  if (index == 0) return {std::to_string(bytes), 0};
  const double number =
      static_cast<double>(bytes) / std::pow(1024.0, static_cast<double>(index));
  std::string digits = with_decimals(number, 2);
  // Exact multiples read better bare.
  if (digits.ends_with(".00") && std::fmod(number, 1.0) == 0) {
    digits.resize(digits.size() - 3);
  }
  return {digits, index};
}

Scaled scaled(uint64_t bytes, SizeUnit unit) {
  return unit == SizeUnit::Auto ? scale(bytes) : scale_to(bytes, unit);
}

// A decimal number at the front of `text`; what follows stays in `text`.
std::optional<double> take_number(std::string_view& text) {
  if (text.empty() || (text[0] != '.' && (text[0] < '0' || text[0] > '9'))) {
    return std::nullopt;
  }
  double number = 0;
  std::from_chars_result result = std::from_chars(
      text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (result.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(result.ptr - text.data()));
  return number;
}

struct TimeUnit {
  std::string_view name;
  double ns;
};
constexpr TimeUnit kTimeUnits[] = {
    {"ns", 1},    {"us", 1e3}, {"ms", 1e6},   {"s", 1e9},    {"", 1e9},
    {"sec", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9},
};

Error bad_duration(std::string_view text) {
  return fail(ErrorKind::Misused,
              "'" + std::string(text) + "' is not a duration",
              "write it as 100ms, 2s, 5min or 10Hz");
}

std::optional<size_t> unit_index(std::string_view word) {
  for (size_t i = 0; i < kLetters.size(); ++i) {
    const bool letter = word.size() == 1 && (word[0] & ~0x20) == kLetters[i][0];
    const bool kernel_kib = i == 1 && (word == "kB" || word == "KB");
    if (letter || kernel_kib || word == kIecNames[i]) return i;
  }
  return std::nullopt;
}

}  // namespace

Result<SizeUnit> parse_size_unit(std::string_view word) {
  if (word == "auto") return SizeUnit::Auto;
  std::optional<size_t> index = unit_index(word);
  if (!index) {
    return fail(ErrorKind::Misused,
                "'" + std::string(word) + "' is not a unit of size",
                "one of auto, B, KiB, MiB, GiB, TiB, PiB, EiB");
  }
  return static_cast<SizeUnit>(*index + 1);
}

Result<uint64_t> parse_size(std::string_view text) {
  std::string_view rest = trim(text);
  std::optional<double> number = take_number(rest);
  rest = trim(rest);
  std::optional<size_t> unit =
      rest.empty() ? std::optional<size_t>(0) : unit_index(rest);
  if (!number || !unit) {
    return fail(ErrorKind::Misused, "'" + std::string(text) + "' is not a size",
                "write it as 4096, 64MiB or 1.5G");
  }
  const double bytes = *number * std::pow(1024.0, static_cast<double>(*unit));
  if (bytes >= 18446744073709551615.0) {
    return fail(ErrorKind::Misused, "'" + std::string(text) + "' is too large");
  }
  return static_cast<uint64_t>(std::round(bytes));
}

Result<uint64_t> parse_duration(std::string_view text) {
  std::string_view rest = trim(text);
  std::optional<double> number = take_number(rest);
  if (!number) return bad_duration(text);
  rest = trim(rest);
  double ns = 0;
  if (rest == "Hz" || rest == "hz") {
    ns = *number > 0 ? 1e9 / *number : 0;
  } else {
    const TimeUnit* unit =
        std::find_if(std::begin(kTimeUnits), std::end(kTimeUnits),
                     [&](const TimeUnit& u) { return u.name == rest; });
    if (unit == std::end(kTimeUnits)) return bad_duration(text);
    ns = *number * unit->ns;
  }
  if (!(ns >= 1) || ns > 9e18) return bad_duration(text);
  return static_cast<uint64_t>(std::round(ns));
}

std::optional<double> parse_percent(std::string_view text) {
  constexpr double kMost = 10'000;
  if (text.ends_with('%')) text.remove_suffix(1);
  const std::optional<double> number = take_number(text);
  if (!number || !text.empty() || *number > kMost) return std::nullopt;
  return number;
}

std::string short_size(uint64_t bytes, SizeUnit unit) {
  if (bytes == 0) return "0";
  Scaled s = scaled(bytes, unit);
  return s.number + std::string(kLetters[s.unit]);
}

std::string long_size(uint64_t bytes, SizeUnit unit) {
  if (bytes == 0) return "0";
  Scaled s = scaled(bytes, unit);
  return s.number + " " + std::string(kIecNames[s.unit]);
}

std::string percent(uint64_t part, uint64_t whole) {
  if (whole == 0 || part == 0) return "0";
  const double share =
      100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (share < 0.1) return "<0.1";
  if (part == whole) return "100";
  if (share >= 99.9 && part < whole) return "99.9";
  // Cut, not rounded, near the top: 99.6 must not read as 100.
  if (share >= 99.5 && share < 100) {
    const double per_mille =
        1000.0 * static_cast<double>(part) / static_cast<double>(whole);
    return with_decimals(std::floor(per_mille) / 10, 1);
  }
  return with_decimals(share, share < 9.95 ? 1 : 0);
}

std::string grouped(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string counted(uint64_t count, std::string_view one,
                    std::string_view many) {
  return grouped(count).append(" ").append(count == 1 ? one : many);
}

std::string clock_duration(uint64_t ns) {
  const uint64_t seconds = ns / 1'000'000'000;
  const auto two = [](uint64_t number) {
    std::string digits = std::to_string(number);
    return digits.size() < 2 ? "0" + digits : digits;
  };
  return two(seconds / 3600) + ":" + two(seconds / 60 % 60) + ":" +
         two(seconds % 60);
}

std::string long_duration(uint64_t ns) {
  const double seconds = static_cast<double>(ns) / 1e9;
  if (ns < 1'000'000) return with_decimals(seconds * 1e6, 0) + " us";
  if (ns < 10'000'000) return with_decimals(seconds * 1e3, 1) + " ms";
  if (ns < 1'000'000'000) return with_decimals(seconds * 1e3, 0) + " ms";
  if (seconds < 120) return with_decimals(seconds, 1) + " s";
  const uint64_t minutes = ns / 60'000'000'000;
  if (minutes < 60) return std::to_string(minutes) + " min";
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) +
         " min";
}

}  // namespace tidemark::base
