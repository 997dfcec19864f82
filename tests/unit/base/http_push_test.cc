#include "base/http_push.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/clock.h"

namespace tidemark::base {
namespace {

TEST(PushTarget, IsTakenApart) {
  Result<PushTarget> target =
      parse_push_target("http://vm.example:8428/api/v1/write");
  ASSERT_TRUE(target) << target.error().what;
  EXPECT_EQ(target->host, "vm.example");
  EXPECT_EQ(target->port, 8428);
  EXPECT_EQ(target->path, "/api/v1/write");
  target = parse_push_target("http://[::1]:9");
  ASSERT_TRUE(target) << target.error().what;
  EXPECT_EQ(target->host, "::1");
  EXPECT_EQ(target->authority(), "[::1]:9");
  EXPECT_EQ(parse_push_target("http://a/")->port, 80);
}

TEST(PushTarget, RefusesWhatItCannotSpeak) {
  for (const char* url :
       {"", "vm:8428", "https://a/", "http://", "http://a:0/", "http://a:x/",
        "http://a/b c", "http://a/\r\nX: y", "http://me:pw@a/"}) {
    Result<PushTarget> target = parse_push_target(url);
    ASSERT_FALSE(target) << url;
    EXPECT_EQ(target.error().kind, ErrorKind::Misused);
  }
}

TEST(HttpPost, BringsTheBodyAndTheAnswerBack) {
  std::string method;
  std::string authorization;
  Result<std::unique_ptr<HttpServer>> server = HttpServer::listen(
      *parse_http_address("127.0.0.1:0"), HttpLimits(),
      [&](const HttpRequest& request, const HttpReply& reply) {
        method = request.method;
        authorization = request.authorization;
        HttpAnswer answer;
        answer.status = 503;
        answer.type = "text/plain";
        answer.body = "later, " + request.peer;
        reply.send(std::move(answer));
      });
  ASSERT_TRUE(server) << server.error().what;
  std::thread runs([&] { (*server)->run(); });
  PushTarget target;
  target.host = "127.0.0.1";
  target.port = (*server)->port();
  Result<HttpAnswer> answer =
      http_post(target, {{"Authorization", "Bearer x"}}, "body",
                monotonic_ns() + 5 * kNsPerSecond);
  (*server)->stop();
  runs.join();
  ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->body, "later, 127.0.0.1");
  EXPECT_EQ(method, "POST");
  EXPECT_EQ(authorization, "Bearer x");
}

TEST(HttpPost, FailsWhereNobodyListens) {
  PushTarget target;
  target.host = "127.0.0.1";
  target.port = 1;
  EXPECT_FALSE(http_post(target, {}, "", monotonic_ns() + kNsPerSecond));
}

}  // namespace
}  // namespace tidemark::base
