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

// Addresses and offsets of mappings are kept in this unit, of which every page
// size is a multiple.
inline constexpr uint64_t kAddressUnit = 4096;

// Signed 64-bit is all SQLite has; counters of the kernel never get there.
inline int64_t as_integer(uint64_t value) {
  return static_cast<int64_t>(value);
}

}  // namespace tidemark::store
