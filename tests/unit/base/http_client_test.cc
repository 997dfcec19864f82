#include "base/http_client.h"

#include <gtest/gtest.h>

#include <string>

#include "base/clock.h"
#include "unit/base/listener.h"

namespace tidemark::base {
namespace {

using test::kLongNs;
using test::kMs;
using test::Listener;
using test::Manners;

Result<HttpAnswer> asked(const std::string& says) {
  const Listener listener(SOCK_STREAM, says, Manners::ListensAndHangsUp);
  Result<UnixSocket> socket = listener.connect(SocketType::Stream);
  EXPECT_TRUE(socket) << socket.error().what;
  return http_get(*socket, "/x", monotonic_ns() + kLongNs);
}

TEST(HttpClient, TakesAnAnswerWithALengthAndOneWithout) {
  Result<HttpAnswer> counted = asked(
      "HTTP/1.1 400 Bad Request\r\nContent-Type: a/b\r\n"
      "Content-Length: 3\r\n\r\nyes and more");
  ASSERT_TRUE(counted) << counted.error().what;
  EXPECT_EQ(counted->status, 400U);
  EXPECT_EQ(counted->type, "a/b");
  EXPECT_EQ(counted->body, "yes");
  Result<HttpAnswer> ended = asked("HTTP/1.1 200 OK\r\n\r\nto the end");
  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->body, "to the end");
}

TEST(HttpClient, RefusesWhatIsCutOrNoHttp) {
  for (const char* says :
       {"", "SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nno",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"}) {
    EXPECT_FALSE(asked(says)) << says;
  }
}

TEST(HttpClient, TakesABodyInChunks) {
  Result<HttpAnswer> answer = asked(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\n\r\n");
  ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_EQ(answer->body, "{\"a\":1}");
}

TEST(HttpClient, TakesAnAnswerWithoutABody) {
  Result<HttpAnswer> answer =
      asked("HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n");
  ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_EQ(answer->status, 204U);
  EXPECT_EQ(answer->body, "");
}

TEST(HttpClient, RefusesAHeadOrABodyWithoutEnd) {
  constexpr size_t kLarge = size_t{2} << 20;
  EXPECT_FALSE(
      asked("HTTP/1.1 200 OK\r\nX: " + std::string(size_t{64} << 10, 'x')));
  Result<HttpAnswer> answer =
      asked("HTTP/1.1 200 OK\r\n\r\n" + std::string(kLarge, 'x'));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::Malformed);
}

TEST(HttpClient, DoesNotWaitLongerThanItMay) {
  const Listener listener(SOCK_STREAM,
                          "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
                          Manners::Stays);
  Result<UnixSocket> socket = listener.connect(SocketType::Stream);
  ASSERT_TRUE(socket) << socket.error().what;
  const uint64_t start = monotonic_ns();
  Result<HttpAnswer> answer = http_get(*socket, "/x", start + 50 * kMs);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::Gone);
  EXPECT_GE(monotonic_ns() - start, 50 * kMs);
}

}  // namespace
}  // namespace tidemark::base
