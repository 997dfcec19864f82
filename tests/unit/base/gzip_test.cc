#include "base/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace tidemark::base {
namespace {

std::string opened(const std::string& packed, size_t most) {
  std::string bytes(most, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string input = packed;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  inflateEnd(&stream);
  return bytes;
}

TEST(Gzip, OpensToWhatItWas) {
  std::string text;
  for (int i = 0; i < 10'000; ++i)
    text += std::to_string(i % 97) + ',';
  const Result<std::string> packed = gzip(text);
  ASSERT_TRUE(packed) << packed.error().what;
  EXPECT_LT(packed->size(), text.size() / 10);
  EXPECT_EQ(opened(*packed, text.size() + 100), text);
}

TEST(Gzip, TakesNothing) {
  const Result<std::string> packed = gzip("");
  ASSERT_TRUE(packed) << packed.error().what;
  EXPECT_EQ(opened(*packed, 100), "");
}

TEST(Base64, IsWhatTheStandardSays) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

}  // namespace
}  // namespace tidemark::base
