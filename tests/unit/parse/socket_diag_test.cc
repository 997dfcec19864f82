#include "parse/socket_diag.h"

#include <gtest/gtest.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "unit/parse/netlink_bytes.h"

namespace tidemark::parse {
namespace {

using test::attribute;
using test::bytes_of;
using test::message;

// received, its limit, sent, its limit, set aside, queued, options, backlog,
// dropped.
constexpr std::array<uint32_t, SK_MEMINFO_VARS> kMemory = {
    1000, 8000, 200, 9000, 50, 300, 7, 1, 99};

std::string unix_socket(uint32_t inode, std::string_view name) {
  unix_diag_msg head{};
  head.udiag_family = AF_UNIX;
  head.udiag_ino = inode;
  return message(SOCK_DIAG_BY_FAMILY,
                 bytes_of(head) + attribute(UNIX_DIAG_NAME, name) +
                     attribute(UNIX_DIAG_MEMINFO, bytes_of(kMemory)));
}

TEST(SocketDiag, SumsWhatASocketHasTaken) {
  std::vector<SocketMemory> sockets;
  base::Result<bool> goes_on =
      parse_socket_diag(unix_socket(42, "/run/x.sock"), sockets);
  ASSERT_TRUE(goes_on) << goes_on.error().what;
  EXPECT_TRUE(*goes_on);
  ASSERT_EQ(sockets.size(), 1);
  EXPECT_EQ(sockets[0].inode_id, 42);
  EXPECT_EQ(sockets[0].name, "/run/x.sock");
  EXPECT_EQ(sockets[0].limit_bytes, 17000);
  // Queued (300) holds what is allocated (200) as well; drops are a count.
  EXPECT_EQ(sockets[0].used_bytes, 1000 + 300 + 50 + 7 + 1);
}

TEST(SocketDiag, AbstractNamesBeginWithAnAt) {
  std::vector<SocketMemory> sockets;
  ASSERT_TRUE(
      parse_socket_diag(unix_socket(1, std::string_view("\0bus", 4)), sockets));
  EXPECT_EQ(sockets[0].name, "@bus");
}

TEST(SocketDiag, ReadsInternetSocketsAndSkipsThoseNobodyHolds) {
  inet_diag_msg head{};
  head.idiag_family = AF_INET6;
  head.idiag_inode = 7;
  const std::string memory = attribute(INET_DIAG_SKMEMINFO, bytes_of(kMemory));
  std::string datagram = message(SOCK_DIAG_BY_FAMILY, bytes_of(head) + memory);
  head.idiag_inode = 0;
  datagram += message(SOCK_DIAG_BY_FAMILY, bytes_of(head) + memory);
  std::vector<SocketMemory> sockets;
  ASSERT_TRUE(parse_socket_diag(datagram, sockets));
  ASSERT_EQ(sockets.size(), 1);
  EXPECT_EQ(sockets[0].family, AF_INET6);
}

TEST(SocketDiag, EndsAtDone) {
  std::vector<SocketMemory> sockets;
  base::Result<bool> goes_on =
      parse_socket_diag(message(NLMSG_DONE, bytes_of(int32_t{0})), sockets);
  ASSERT_TRUE(goes_on);
  EXPECT_FALSE(*goes_on);
}

TEST(SocketDiag, AFamilyTheKernelLacksIsNotFound) {
  std::vector<SocketMemory> sockets;
  base::Result<bool> answer = parse_socket_diag(
      message(NLMSG_ERROR, bytes_of(int32_t{-ENOENT})), sockets);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, base::ErrorKind::NotFound);
}

TEST(SocketDiag, RefusesEveryCutMessage) {
  const std::string whole = unix_socket(42, "/run/x.sock");
  for (size_t length = 1; length < whole.size(); ++length) {
    std::vector<SocketMemory> sockets;
    EXPECT_FALSE(parse_socket_diag(whole.substr(0, length), sockets)) << length;
  }
}

}  // namespace
}  // namespace tidemark::parse
