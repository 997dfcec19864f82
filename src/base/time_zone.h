// Times that were written without their zone, as other tools do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark::base {

class TimeZone {
 public:
  // Local time, as TZ and the system say.
  TimeZone() = default;
  // "local", "UTC", "+01:00".
  static Result<TimeZone> parse(std::string_view word);

  // "2026-11-15T08:05:47.943" to nanoseconds since 1970. A zone in the text
  // itself wins. An hour that local time has twice is taken as the clock's
  // rules say, alike for each of its moments.
  std::optional<uint64_t> read(std::string_view text) const;
  // The same way back, to the millisecond.
  std::string write(uint64_t realtime) const;
  // "local time", "UTC", "+01:00".
  std::string words() const;

 private:
  std::string suffix_;  // as RFC 3339 has it; empty: local
  int64_t offset_seconds_ = 0;
};

}  // namespace tidemark::base
