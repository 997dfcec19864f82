// Time in nanoseconds. Wall clock for people, monotonic for intervals.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark::base {

uint64_t monotonic_ns();

// Nanoseconds since 1970, UTC. The variable TIDEMARK_TEST_TIME replaces it, so
// that output on fixtures can be compared byte for byte.
uint64_t realtime_ns();

// RFC 3339 in UTC with nanoseconds: "2026-11-15T08:09:03.000000000Z".
std::string rfc3339(uint64_t realtime);

// CPU time this process has used so far, user and system.
uint64_t own_cpu_ns();

}  // namespace tidemark::base
