#include "base/http_server.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"

namespace tidemark::base {
namespace {

using std::chrono::milliseconds;

Fd connected(uint16_t port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address),
                sizeof address) != 0) {
    return Fd();
  }
  const timeval most{5, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
  return fd;
}

void say(const Fd& fd, const std::string& text) {
  ASSERT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

// Until the other side closes, or `until` has come.
std::string heard(const Fd& fd, const std::string& until = "\1") {
  std::string text;
  char buffer[4096];
  while (text.find(until) == std::string::npos) {
    const ssize_t got = ::recv(fd.get(), buffer, sizeof buffer, 0);
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

// Answers with the path, from another thread where it asks for that.
class Served : public testing::Test {
 protected:
  void start(const HttpLimits& limits,
             const std::string& where = "127.0.0.1:0") {
    Result<HttpAddress> address = parse_http_address(where);
    ASSERT_TRUE(address);
    Result<std::unique_ptr<HttpServer>> server = HttpServer::listen(
        *address, limits,
        [this](const HttpRequest& request, const HttpReply& reply) {
          answer(request, reply);
        });
    ASSERT_TRUE(server) << server.error().what;
    server_ = std::move(*server);
    thread_ = std::thread([this] { server_->run(); });
  }
  void answer(const HttpRequest& request, const HttpReply& reply) {
    HttpAnswer answer;
    answer.type = "text/plain";
    answer.body = request.method + " " + request.target;
    if (request.fault != HttpFault::None) {
      answer.body = "fault " + std::to_string(static_cast<int>(request.fault));
    }
    if (request.target == "/stream") return reply.stream(answer);
    if (request.target == "/big") answer.body.assign(1 << 20, 'x');
    if (request.target != "/later") return reply.send(std::move(answer));
    later_.emplace_back([reply, answer] {
      std::this_thread::sleep_for(milliseconds(30));
      reply.send(answer);
      reply.send(answer);  // a second one goes nowhere
    });
  }
  void TearDown() override {
    if (server_) server_->stop();
    if (thread_.joinable()) thread_.join();
    for (std::thread& one : later_)
      one.join();
    later_.clear();
  }

  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
  std::vector<std::thread> later_;  // of the thread of run(), until it ends
};

const char* const kClose = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

TEST_F(Served, AnswersAtOnceOrLater) {
  start({});
  for (const std::string target : {"/now", "/later"}) {
    const Fd fd = connected(server_->port());
    say(fd, "GET " + target + kClose);
    const std::string text = heard(fd);
    EXPECT_TRUE(text.starts_with("HTTP/1.1 200 OK\r\n")) << text;
    EXPECT_TRUE(text.ends_with("\r\n\r\nGET " + target)) << text;
  }
}

TEST_F(Served, KeepsAConnectionForTheNextQuestion) {
  start({});
  const Fd fd = connected(server_->port());
  say(fd, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_NE(heard(fd, "GET /a").find("200 OK"), std::string::npos);
  say(fd, "HEAD /bc HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string head = heard(fd);
  EXPECT_NE(head.find("Content-Length: 8"), std::string::npos) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST_F(Served, SendsEventsToWhoLooksOn) {
  HttpLimits limits;
  limits.heartbeat = milliseconds(20);
  start(limits);
  const Fd fd = connected(server_->port());
  say(fd, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_NE(heard(fd, "\r\n\r\n").find("text/plain"), std::string::npos);
  std::atomic<int> count = 0;
  server_->every(milliseconds(10),
                 [&] { server_->publish("tick", std::to_string(++count)); });
  EXPECT_NE(heard(fd, "event: tick\ndata: 3\n\n").find("data: 2"),
            std::string::npos);
}

TEST_F(Served, GivesUpAStreamThatNobodyReads) {
  HttpLimits limits;
  limits.queued_bytes = 1 << 20;
  start(limits);
  const Fd fd = connected(server_->port());
  say(fd, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  heard(fd, "\r\n\r\n");
  const std::string data(256 << 10, 'x');
  std::atomic<size_t> left = 1;
  server_->every(milliseconds(1), [&] {
    server_->publish("tick", data);
    left = server_->stream_count();
  });
  for (int i = 0; i < 500 && left > 0; ++i)
    std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(left, 0U);
}

TEST_F(Served, TellsWhatIsNoRequestAndEndsTheConnection) {
  start({});
  const std::string body(999'999, 'x');
  const std::vector<std::pair<std::string, HttpFault>> cases = {
      {"nonsense\r\n\r\n", HttpFault::Nonsense},
      {"GET /" + std::string(50'000, 'a') + " HTTP/1.1\r\n\r\n",
       HttpFault::TooLong},
      {"POST /x HTTP/1.1\r\nContent-Length: 999999\r\n\r\n" + body,
       HttpFault::HasBody},
  };
  for (const auto& [text, fault] : cases) {
    const Fd fd = connected(server_->port());
    say(fd, text);
    const std::string answer = heard(fd);
    EXPECT_NE(answer.find("fault " + std::to_string(static_cast<int>(fault))),
              std::string::npos)
        << answer;
    EXPECT_NE(answer.find("Connection: close"), std::string::npos);
  }
}

TEST_F(Served, ClosesOnWhoIsTooSlow) {
  HttpLimits limits;
  limits.request_time = milliseconds(100);
  start(limits);
  const Fd fd = connected(server_->port());
  say(fd, "GET / HT");
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(heard(fd), "");
  EXPECT_LT(std::chrono::steady_clock::now() - began, milliseconds(3000));
}

TEST_F(Served, SlowOnesDoNotLockOthersOut) {
  HttpLimits limits;
  limits.connection_count = 8;
  start(limits);
  std::vector<Fd> slow;
  for (int i = 0; i < 30; ++i) {
    slow.push_back(connected(server_->port()));
    say(slow.back(), "GET / HT");
  }
  const Fd fd = connected(server_->port());
  say(fd, std::string("GET /me") + kClose);
  EXPECT_TRUE(heard(fd).ends_with("GET /me"));
}

TEST_F(Served, WhoHasAnAnswerGivesUpThePlace) {
  HttpLimits limits;
  limits.connection_count = 4;
  start(limits);
  std::vector<Fd> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(connected(server_->port()));
    say(waiting.back(), "GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
    heard(waiting.back(), "\r\n\r\n");
  }
  // All four have their answer and wait to ask again: a fifth gets a place.
  for (Fd& one : waiting)
    heard(one, std::string(4096, 'x'));
  const Fd fd = connected(server_->port());
  say(fd, std::string("GET /me") + kClose);
  EXPECT_TRUE(heard(fd).ends_with("GET /me"));
}

TEST_F(Served, ListensOnASocketThatIsOurs) {
  const std::string path =
      testing::TempDir() + "tidemark-" + std::to_string(::getpid()) + ".sock";
  start({}, "unix:" + path);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address),
                      sizeof address),
            0);
  say(fd, std::string("GET /u") + kClose);
  EXPECT_TRUE(heard(fd).ends_with("GET /u"));
  const Result<HttpAddress> same = parse_http_address("unix:" + path);
  EXPECT_FALSE(HttpServer::listen(*same, {}, nullptr)) << "it is taken";
  TearDown();
  server_.reset();
  EXPECT_NE(::stat(path.c_str(), &status), 0) << "it goes with the server";
}

}  // namespace
}  // namespace tidemark::base
