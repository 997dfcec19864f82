// Values of fixed size out of bytes whose length somebody else has claimed.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

namespace tidemark::parse {

// Empty when any of it lies beyond the end. Copied, because what comes in
// messages and files is not aligned; in this machine's byte order.
template <typename T>
std::optional<T> read_at(std::string_view bytes, uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    return std::nullopt;
  }
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace tidemark::parse
