// Time in nanoseconds. Wall clock for people, monotonic for intervals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::base {

inline constexpr uint64_t kNsPerSecond = 1'000'000'000;

uint64_t monotonic_ns();

// Nanoseconds since 1970, UTC. The variable TIDEMARK_TEST_TIME replaces it, so
// that output on fixtures can be compared byte for byte.
uint64_t realtime_ns();

// RFC 3339 in UTC with nanoseconds: "2026-11-15T08:09:03.000000000Z".
std::string rfc3339(uint64_t realtime);

// The other way, to the nanosecond: "2026-11-15T08:09:03.5Z", with an offset
// ("+01:00"), or without either, which is local time. A blank may stand for the
// T; the time of day may end after its minutes.
std::optional<uint64_t> parse_rfc3339(std::string_view text);

// Local time without a zone and with milliseconds: "2026-11-15T08:09:03.500".
std::string local_time(uint64_t realtime);

// CPU time this process has used so far, user and system.
uint64_t own_cpu_ns();
// The same of the calling thread.
uint64_t thread_cpu_ns();

}  // namespace tidemark::base
