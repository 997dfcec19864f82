#include "base/snappy.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tidemark::base {
namespace {

// Reads the format as its description has it, and refuses what is not in it.
std::optional<std::string> expanded(std::string_view bytes) {
  size_t at = 0;
  const auto next = [&]() -> unsigned {
    return at < bytes.size() ? static_cast<unsigned char>(bytes[at++]) : 0;
  };
  size_t length = 0;
  for (unsigned shift = 0;; shift += 7) {
    const unsigned byte = next();
    length |= size_t{byte & 0x7f} << shift;
    if (byte < 0x80) break;
  }
  std::string out;
  while (at < bytes.size()) {
    const unsigned tag = next();
    size_t count = (tag >> 2) + 1;
    if ((tag & 3) == 0) {
      if (count == 62) {
        count = next();
        count = (count | next() << 8) + 1;
      } else if (count > 60) {
        return std::nullopt;
      }
      if (at + count > bytes.size()) return std::nullopt;
      out += bytes.substr(at, count);
      at += count;
    } else if ((tag & 3) == 2) {
      size_t offset = next();
      offset |= next() << 8;
      if (offset == 0 || offset > out.size()) return std::nullopt;
      for (size_t i = 0; i < count; ++i)
        out += out[out.size() - offset];
    } else {
      return std::nullopt;
    }
  }
  if (out.size() != length) return std::nullopt;
  return out;
}

TEST(Snappy, GivesBackWhatWentIn) {
  rc::check([](const std::string& bytes, uint8_t times) {
    std::string text;
    for (unsigned i = 0; i < times; ++i)
      text += bytes + std::to_string(i % 7);
    RC_ASSERT(expanded(snappy_compress(text)) == text);
  });
}

TEST(Snappy, GivesBackMoreThanAnOffsetCanReach) {
  std::string text;
  for (uint32_t i = 0; i < 100'000; ++i)
    text += static_cast<char>((i * 2654435761U) >> 24);
  text += text;
  EXPECT_EQ(expanded(snappy_compress(text)), text);
}

TEST(Snappy, MakesSeriesSmall) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "__name__tidemark_cgroup_bytes cgroup/system.slice/x" +
            std::to_string(i) + ".service measure anon";
  }
  EXPECT_LT(snappy_compress(text).size() * 4, text.size());
}

}  // namespace
}  // namespace tidemark::base
