// The little of protocol buffers that writing profiles and series takes:
// numbers, texts and messages by field.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tidemark::view {

class ProtobufWriter {
 public:
  // A number that is 0 is left out, as the format says.
  void number(uint32_t field, uint64_t value) {
    if (value != 0) told_number(field, value);
  }
  // Also where it is 0, for readers to whom that differs from none.
  void told_number(uint32_t field, uint64_t value) {
    varint(uint64_t{field} << 3);
    varint(value);
  }
  void text(uint32_t field, std::string_view bytes) {
    varint(uint64_t{field} << 3 | kLengthDelimited);
    varint(bytes.size());
    bytes_ += bytes;
  }
  void message(uint32_t field, const ProtobufWriter& inner) {
    text(field, inner.bytes_);
  }
  void real(uint32_t field, double value) {
    constexpr uint64_t kFixed64 = 1;
    varint(uint64_t{field} << 3 | kFixed64);
    const auto bits = std::bit_cast<uint64_t>(value);
    for (unsigned shift = 0; shift < 64; shift += 8)
      bytes_ += static_cast<char>(bits >> shift);
  }
  // Repeated numbers in one piece.
  void packed(uint32_t field, std::span<const uint64_t> values) {
    ProtobufWriter inner;
    for (uint64_t value : values)
      inner.varint(value);
    message(field, inner);
  }

  std::string take() { return std::move(bytes_); }

 private:
  static constexpr uint64_t kLengthDelimited = 2;

  void varint(uint64_t value) {
    constexpr uint64_t kMore = 0x80;
    while (value >= kMore) {
      bytes_ += static_cast<char>(value | kMore);
      value >>= 7;
    }
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace tidemark::view
