#include "base/clock.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/text.h"

namespace tidemark::base {
namespace {

uint64_t read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);  // cannot fail for the clocks named here
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(now.tv_nsec);
}

// Takes exactly so many digits off the front.
std::optional<int> take_digits(std::string_view& rest, size_t count) {
  if (rest.size() < count) return std::nullopt;
  std::optional<uint64_t> number = parse_u64(rest.substr(0, count));
  if (!number) return std::nullopt;
  rest.remove_prefix(count);
  return static_cast<int>(*number);
}

bool take_char(std::string_view& rest, std::string_view any) {
  if (rest.empty() || any.find(rest.front()) == std::string_view::npos) {
    return false;
  }
  rest.remove_prefix(1);
  return true;
}

// ".481" to nanoseconds; digits beyond the ninth are refused.
std::optional<uint64_t> take_fraction(std::string_view& rest) {
  if (!take_char(rest, ".,")) return 0;
  uint64_t ns = 0;
  uint64_t unit = kNsPerSecond;
  while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
    unit /= 10;
    if (unit == 0) return std::nullopt;
    ns += static_cast<uint64_t>(rest.front() - '0') * unit;
    rest.remove_prefix(1);
  }
  if (unit == kNsPerSecond) return std::nullopt;
  return ns;
}

// "2026-11-15T08:09:03" off the front.
std::optional<tm> take_date_and_time(std::string_view& rest) {
  tm date{};
  const auto take = [&](int& target, size_t count, int least, int most) {
    std::optional<int> number = take_digits(rest, count);
    if (!number || *number < least || *number > most) return false;
    target = *number;
    return true;
  };
  const bool has_minutes =
      take(date.tm_year, 4, 1970, 9999) && take_char(rest, "-") &&
      take(date.tm_mon, 2, 1, 12) && take_char(rest, "-") &&
      take(date.tm_mday, 2, 1, 31) && take_char(rest, "Tt ") &&
      take(date.tm_hour, 2, 0, 23) && take_char(rest, ":") &&
      take(date.tm_min, 2, 0, 59);
  if (!has_minutes) return std::nullopt;
  if (take_char(rest, ":") && !take(date.tm_sec, 2, 0, 60)) {
    return std::nullopt;
  }
  date.tm_year -= 1900;
  date.tm_mon -= 1;
  date.tm_isdst = -1;
  return date;
}

// Seconds east of Greenwich; empty for a malformed one.
std::optional<int> take_offset(std::string_view& rest) {
  const int sign = rest.front() == '-' ? -1 : 1;
  rest.remove_prefix(1);
  std::optional<int> hours = take_digits(rest, 2);
  take_char(rest, ":");
  std::optional<int> minutes = take_digits(rest, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

}  // namespace

uint64_t monotonic_ns() {
  return read_clock(CLOCK_MONOTONIC);
}

uint64_t realtime_ns() {
  if (const char* fixed = std::getenv("TIDEMARK_TEST_TIME")) {
    if (std::optional<uint64_t> ns = parse_u64(fixed)) return *ns;
  }
  return read_clock(CLOCK_REALTIME);
}

std::string rfc3339(uint64_t realtime) {
  const time_t seconds = static_cast<time_t>(realtime / 1'000'000'000);
  tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 64> text{};
  size_t length =
      std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::array<char, 16> fraction{};
  int digits = std::snprintf(fraction.data(), fraction.size(), ".%09uZ",
                             static_cast<unsigned>(realtime % 1'000'000'000));
  return std::string(text.data(), length) +
         std::string(fraction.data(), static_cast<size_t>(digits));
}

std::optional<uint64_t> parse_rfc3339(std::string_view text) {
  std::string_view rest = text;
  std::optional<tm> date = take_date_and_time(rest);
  if (!date) return std::nullopt;
  std::optional<uint64_t> fraction = take_fraction(rest);
  if (!fraction) return std::nullopt;
  time_t seconds = 0;
  if (rest.empty()) {
    seconds = std::mktime(&*date);
  } else if (take_char(rest, "Zz")) {
    seconds = timegm(&*date);
  } else if (rest.front() == '+' || rest.front() == '-') {
    std::optional<int> offset = take_offset(rest);
    if (!offset) return std::nullopt;
    seconds = timegm(&*date) - *offset;
  }
  if (!rest.empty() || seconds < 0) return std::nullopt;
  return static_cast<uint64_t>(seconds) * kNsPerSecond + *fraction;
}

std::string local_time(uint64_t realtime) {
  const time_t seconds = static_cast<time_t>(realtime / kNsPerSecond);
  tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 64> text{};
  const size_t length =
      std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &local);
  std::array<char, 16> fraction{};
  constexpr uint64_t kNsPerMs = 1'000'000;
  const int digits =
      std::snprintf(fraction.data(), fraction.size(), ".%03u",
                    static_cast<unsigned>(realtime / kNsPerMs % 1000));
  return std::string(text.data(), length) +
         std::string(fraction.data(), static_cast<size_t>(digits));
}

uint64_t own_cpu_ns() {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t thread_cpu_ns() {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace tidemark::base
