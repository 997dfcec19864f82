#include "base/http_address.h"

#include <gtest/gtest.h>

namespace tidemark::base {
namespace {

TEST(HttpAddress, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(parse_http_address("127.0.0.1:80")->port, 80);
  EXPECT_EQ(parse_http_address("localhost:80")->host, "127.0.0.1");
  EXPECT_EQ(parse_http_address("[::1]:0")->host, "::1");
  EXPECT_EQ(parse_http_address("unix:/a b")->socket_path, "/a b");
  EXPECT_TRUE(parse_http_address("[::1]:1")->is_loopback());
  EXPECT_TRUE(parse_http_address("127.9.9.9:1")->is_loopback());
  EXPECT_FALSE(parse_http_address("0.0.0.0:1")->is_loopback());
  for (const char* text : {"", "80", ":80", "host:80", "127.0.0.1:99999",
                           "127.0.0.1:", "::1:80", "unix:"}) {
    EXPECT_FALSE(parse_http_address(text)) << text;
  }
}

}  // namespace
}  // namespace tidemark::base
