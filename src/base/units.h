// Sizes and durations as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark::base {

inline constexpr uint64_t kKib = 1024;

// What a size is printed in. Auto picks per number, the rest are fixed.
enum class SizeUnit { Auto, Bytes, KiB, MiB, GiB, TiB, PiB, EiB };

// "auto", "B", "KiB" … "EiB", and the single letters B k M G T P E.
Result<SizeUnit> parse_size_unit(std::string_view word);

// "64MiB", "1.5G", "4096", "512 kB"; base 1024 throughout, as the kernel's own
// kB is.
Result<uint64_t> parse_size(std::string_view text);

// "100ms", "2s", "1.5min", "500us", "10Hz" (as a period) to nanoseconds. A
// plain number is taken as seconds. Zero and negative periods are refused.
Result<uint64_t> parse_duration(std::string_view text);

// "5", "2.5%": the number before the sign. Nothing for what is none, is
// negative, or beyond ten thousand.
std::optional<double> parse_percent(std::string_view text);

// For dense tables: three significant digits, base 1024, the next unit at
// 999.5, unit as one letter: "6.11G", "804M", "23.0M", "512K", "0". With a
// fixed unit the number has up to two decimals.
std::string short_size(uint64_t bytes, SizeUnit unit = SizeUnit::Auto);

// For reports: "6.11 GiB", "804 MiB", "0".
std::string long_size(uint64_t bytes, SizeUnit unit = SizeUnit::Auto);

// One decimal below 10, none above, "<0.1" for a trace; 99.97 is "99.9" and
// never "100" while something is missing.
std::string percent(uint64_t part, uint64_t whole);

// "1,204".
std::string grouped(uint64_t count);

// "1 page", "1,204 pages".
std::string counted(uint64_t count, std::string_view one,
                    std::string_view many);

// "00:41:12": hours, minutes, seconds.
std::string clock_duration(uint64_t ns);

// "3.0 ms", "31.4 s", "5 min", "1 h 12 min".
std::string long_duration(uint64_t ns);

}  // namespace tidemark::base
