#include "base/unix_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/http_client.h"

namespace tidemark::base {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kLongNs = 5000 * kMs;

enum class Manners { Stays, HangsUp, ListensAndHangsUp };

// A socket in a folder of its own, which says `greeting` to the first client.
// Who hangs up on what was not read resets the connection, so one that is to be
// asked listens first.
class Listener {
 public:
  Listener(int type, std::string greeting, Manners manners) {
    std::string name = testing::TempDir() + "tidemark_socket_XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fd_ = Fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (folder_ + "/s").c_str(),
                 sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address),
                     sizeof address),
              0);
    EXPECT_EQ(::listen(fd_.get(), 1), 0);
    thread_ = std::thread([this, greeting = std::move(greeting), manners] {
      Fd link(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      std::array<char, 4096> request{};
      if (manners == Manners::ListensAndHangsUp) {
        (void)!::read(link.get(), request.data(), request.size());
      }
      ::send(link.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL);
      if (manners == Manners::Stays) link_ = std::move(link);
    });
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    ::shutdown(fd_.get(), SHUT_RDWR);
    thread_.join();
    std::filesystem::remove_all(folder_);
  }

  Result<UnixSocket> connect(SocketType type,
                             const std::string& path = "s") const {
    Result<Directory> folder = open_directory(folder_);
    EXPECT_TRUE(folder) << folder.error().what;
    return UnixSocket::connect_at(*folder, path, type);
  }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  Fd fd_;
  Fd link_;
  std::thread thread_;
};

TEST(UnixSocket, ReadsLinesAndThenTheEnd) {
  const Listener listener(SOCK_STREAM, "one\ntwo\nthr", Manners::HangsUp);
  Result<UnixSocket> socket = listener.connect(SocketType::Stream);
  ASSERT_TRUE(socket) << socket.error().what;
  const uint64_t until = monotonic_ns() + kLongNs;
  EXPECT_EQ(*socket->receive_line(until), "one");
  EXPECT_EQ(*socket->receive_line(until), "two");
  Result<std::string> cut = socket->receive_line(until);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().kind, ErrorKind::Closed);
}

TEST(UnixSocket, KeepsPacketsApart) {
  const Listener listener(SOCK_SEQPACKET, "a packet", Manners::Stays);
  Result<UnixSocket> socket = listener.connect(SocketType::Packets);
  ASSERT_TRUE(socket) << socket.error().what;
  EXPECT_EQ(*socket->receive_packet(monotonic_ns() + kLongNs), "a packet");
}

TEST(UnixSocket, DoesNotWaitLongerThanItMay) {
  const Listener listener(SOCK_STREAM, "no newline", Manners::Stays);
  Result<UnixSocket> socket = listener.connect(SocketType::Stream);
  ASSERT_TRUE(socket) << socket.error().what;
  const uint64_t start = monotonic_ns();
  Result<std::string> line = socket->receive_line(start + 50 * kMs);
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().kind, ErrorKind::Gone);
  EXPECT_GE(monotonic_ns() - start, 50 * kMs);
}

TEST(UnixSocket, FollowsLinksAsSeenFromARoot) {
  const Listener listener(SOCK_STREAM, "hello\n", Manners::Stays);
  std::filesystem::create_symlink("/s", listener.folder() + "/inside");
  std::filesystem::create_symlink("../../../s", listener.folder() + "/above");
  EXPECT_TRUE(listener.connect(SocketType::Stream, "/inside"));
  EXPECT_TRUE(listener.connect(SocketType::Stream, "/above"));
  EXPECT_FALSE(listener.connect(SocketType::Stream, "inside"))
      << "a path that is relative is the directory's, not a root's";
}

TEST(UnixSocket, SaysThatThereIsNone) {
  Result<Directory> folder = open_directory(testing::TempDir());
  ASSERT_TRUE(folder);
  Result<UnixSocket> socket =
      UnixSocket::connect_at(*folder, "no such socket", SocketType::Stream);
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().kind, ErrorKind::NotFound);
}

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

}  // namespace
}  // namespace tidemark::base
