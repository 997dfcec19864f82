// The format (google/snappy, format_description.txt): the length as a varint,
// then pieces. A piece begins with a tag whose two low bits say what it is:
// 0 is a literal, 2 a copy of 1 to 64 bytes from up to 65,535 bytes before.
#include "base/snappy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tidemark::base {
namespace {

constexpr size_t kLeastMatch = 4;
constexpr size_t kMostCopy = 64;
constexpr size_t kMostOffset = 65'535;
constexpr unsigned kTableBits = 14;
constexpr uint64_t kNowhere = ~uint64_t{0};

uint32_t word_at(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

size_t slot_of(uint32_t word) {
  constexpr uint32_t kSpread = 0x1e35a7bd;
  return (word * kSpread) >> (32 - kTableBits);
}

void put_length(size_t length, std::string& out) {
  constexpr size_t kMore = 0x80;
  for (; length >= kMore; length >>= 7)
    out += static_cast<char>(length | kMore);
  out += static_cast<char>(length);
}

void put_literal(std::string_view bytes, std::string& out) {
  // A tag holds the length less one up to 59; 61 says that two bytes follow.
  constexpr size_t kInTag = 60;
  constexpr size_t kMostLiteral = 65'536;
  constexpr size_t kTwoBytes = 61;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMostLiteral);
    const size_t length = part.size() - 1;
    if (part.size() <= kInTag) {
      out += static_cast<char>(length << 2);
    } else {
      out += static_cast<char>(kTwoBytes << 2);
      out += static_cast<char>(length);
      out += static_cast<char>(length >> 8);
    }
    out += part;
    bytes.remove_prefix(part.size());
  }
}

void put_copy(size_t offset, size_t length, std::string& out) {
  constexpr size_t kCopy = 2;
  while (length > 0) {
    const size_t part = std::min(length, kMostCopy);
    out += static_cast<char>(((part - 1) << 2) | kCopy);
    out += static_cast<char>(offset);
    out += static_cast<char>(offset >> 8);
    length -= part;
  }
}

size_t match_length(std::string_view bytes, size_t earlier, size_t at) {
  size_t length = 0;
  while (at + length < bytes.size() &&
         bytes[earlier + length] == bytes[at + length]) {
    ++length;
  }
  return length;
}

}  // namespace

std::string snappy_compress(std::string_view bytes) {
  std::string out;
  put_length(bytes.size(), out);
  std::vector<uint64_t> last(size_t{1} << kTableBits, kNowhere);
  size_t literal_begin = 0;
  size_t at = 0;
  while (at + kLeastMatch <= bytes.size()) {
    const uint32_t word = word_at(bytes, at);
    const uint64_t earlier = last[slot_of(word)];
    last[slot_of(word)] = at;
    const bool is_match = earlier != kNowhere && at - earlier <= kMostOffset &&
                          word_at(bytes, earlier) == word;
    if (!is_match) {
      ++at;
      continue;
    }
    put_literal(bytes.substr(literal_begin, at - literal_begin), out);
    const size_t length = match_length(bytes, earlier, at);
    put_copy(at - earlier, length, out);
    at += length;
    literal_begin = at;
  }
  put_literal(bytes.substr(literal_begin), out);
  return out;
}

}  // namespace tidemark::base
