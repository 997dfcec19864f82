// Sizes and times that tests are written in.
#pragma once

#include <cstdint>

namespace tidemark::test {

inline constexpr uint64_t kKiB = uint64_t{1} << 10;
inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint64_t kPage = 4096;
inline constexpr uint64_t kSecondNs = 1'000'000'000;

}  // namespace tidemark::test
