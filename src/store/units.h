// From what the kernel counts to what the tables hold.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"

namespace tidemark::store {

inline std::optional<int64_t> kib(std::optional<uint64_t> bytes) {
  if (!bytes) return std::nullopt;
  return static_cast<int64_t>(*bytes / base::kKib);
}

// Signed 64-bit is all SQLite has; counters of the kernel never get there.
inline int64_t as_integer(uint64_t value) {
  return static_cast<int64_t>(value);
}

}  // namespace tidemark::store
