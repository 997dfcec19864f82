#include "base/unix_socket.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/clock.h"
#include "unit/base/listener.h"

namespace tidemark::base {
namespace {

using test::kLongNs;
using test::kMs;
using test::Listener;
using test::Manners;

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

}  // namespace
}  // namespace tidemark::base
