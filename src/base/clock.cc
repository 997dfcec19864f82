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

uint64_t own_cpu_ns() {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace tidemark::base
