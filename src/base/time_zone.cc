#include "base/time_zone.h"

#include "base/clock.h"
#include "base/escape.h"

namespace tidemark::base {
namespace {

constexpr std::string_view kSomeMidnight = "1970-01-02T00:00:00";
constexpr int64_t kSecondsPerDay = 86'400;

bool has_zone(std::string_view text) {
  const size_t time = text.find_first_of("Tt ");
  return time != std::string_view::npos &&
         text.find_first_of("Zz+-", time + 1) != std::string_view::npos;
}

}  // namespace

Result<TimeZone> TimeZone::parse(std::string_view word) {
  TimeZone zone;
  if (word == "local") return zone;
  zone.suffix_ = word == "UTC" || word == "utc" ? "Z" : std::string(word);
  // Midnight there is so many seconds before or after midnight at Greenwich.
  const std::optional<uint64_t> midnight =
      parse_rfc3339(std::string(kSomeMidnight) + zone.suffix_);
  if (!midnight || zone.suffix_.empty()) {
    return fail(ErrorKind::Misused,
                "'" + visible(word) + "' is not a time zone",
                "local, UTC or an offset such as +01:00");
  }
  zone.offset_seconds_ =
      kSecondsPerDay - static_cast<int64_t>(*midnight / kNsPerSecond);
  return zone;
}

std::optional<uint64_t> TimeZone::read(std::string_view text) const {
  if (has_zone(text)) return parse_rfc3339(text);
  return parse_rfc3339(std::string(text) + suffix_);
}

std::string TimeZone::write(uint64_t realtime) const {
  if (suffix_.empty()) return local_time(realtime);
  constexpr size_t kToMilliseconds = 23;
  const uint64_t there =
      realtime + static_cast<uint64_t>(offset_seconds_) * kNsPerSecond;
  return rfc3339(there).substr(0, kToMilliseconds);
}

std::string TimeZone::words() const {
  if (suffix_.empty()) return "local time";
  return offset_seconds_ == 0 ? "UTC" : suffix_;
}

}  // namespace tidemark::base
