#include "parse/socket_diag.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/netlink_diag.h>
#include <linux/packet_diag.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "parse/bytes.h"
#include "parse/netlink_message.h"

namespace tidemark::parse {
namespace {

using base::ErrorKind;

base::Error bad(std::string_view why) {
  return base::fail(ErrorKind::Malformed, "sock_diag: " + std::string(why));
}

// Where each family keeps what we read. All answers begin with the family.
struct Shape {
  size_t head_bytes = 0;
  size_t inode_offset = 0;
  uint16_t memory_attribute = 0;
};

std::optional<Shape> shape_of(uint8_t family) {
  switch (family) {
    case AF_INET:
    case AF_INET6:
      return Shape{sizeof(inet_diag_msg), offsetof(inet_diag_msg, idiag_inode),
                   INET_DIAG_SKMEMINFO};
    case AF_UNIX:
      return Shape{sizeof(unix_diag_msg), offsetof(unix_diag_msg, udiag_ino),
                   UNIX_DIAG_MEMINFO};
    case AF_NETLINK:
      return Shape{sizeof(netlink_diag_msg),
                   offsetof(netlink_diag_msg, ndiag_ino), NETLINK_DIAG_MEMINFO};
    case AF_PACKET:
      return Shape{sizeof(packet_diag_msg),
                   offsetof(packet_diag_msg, pdiag_ino), PACKET_DIAG_MEMINFO};
    default:
      return std::nullopt;
  }
}

void read_memory(std::string_view body, SocketMemory& socket) {
  const auto field = [&](size_t index) -> uint64_t {
    return read_at<uint32_t>(body, index * sizeof(uint32_t)).value_or(0);
  };
  socket.limit_bytes = field(SK_MEMINFO_RCVBUF) + field(SK_MEMINFO_SNDBUF);
  // TCP counts what waits to be sent as queued, and again as allocated once it
  // is with the device; the others only allocate.
  socket.used_bytes =
      field(SK_MEMINFO_RMEM_ALLOC) +
      std::max(field(SK_MEMINFO_WMEM_ALLOC), field(SK_MEMINFO_WMEM_QUEUED)) +
      field(SK_MEMINFO_FWD_ALLOC) + field(SK_MEMINFO_OPTMEM) +
      field(SK_MEMINFO_BACKLOG);
}

// An abstract name begins with NUL, which people write as @.
std::string unix_name(std::string_view body) {
  if (body.starts_with('\0')) return "@" + std::string(body.substr(1));
  return std::string(body.substr(0, body.find('\0')));
}

base::Status read_socket(std::string_view body,
                         std::vector<SocketMemory>& sockets) {
  const std::optional<uint8_t> family = read_at<uint8_t>(body, 0);
  if (!family) return bad("an empty answer");
  const std::optional<Shape> shape = shape_of(*family);
  if (!shape) return base::Ok{};
  const std::optional<uint32_t> inode =
      read_at<uint32_t>(body, shape->inode_offset);
  if (!inode || body.size() < shape->head_bytes) {
    return bad("a message too short for its kind");
  }
  SocketMemory socket;
  socket.inode_id = *inode;
  socket.family = *family;
  bool has_memory = false;
  std::string_view rest = body.substr(shape->head_bytes);
  while (!rest.empty()) {
    const std::optional<NetlinkPart> attribute = take_attribute(rest);
    if (!attribute) return bad("an attribute beyond its message");
    if (attribute->type == shape->memory_attribute) {
      read_memory(attribute->body, socket);
      has_memory = true;
    } else if (*family == AF_UNIX && attribute->type == UNIX_DIAG_NAME) {
      socket.name = unix_name(attribute->body);
    }
  }
  // 0: nobody holds it any more, it only waits to end.
  if (has_memory && socket.inode_id != 0) sockets.push_back(std::move(socket));
  return base::Ok{};
}

}  // namespace

base::Result<bool> parse_socket_diag(std::string_view datagram,
                                     std::vector<SocketMemory>& sockets) {
  std::string_view rest = datagram;
  while (!rest.empty()) {
    const std::optional<NetlinkPart> message = take_message(rest);
    if (!message) return bad("a message beyond what was received");
    if (message->type == NLMSG_DONE) return false;
    if (message->type == NLMSG_ERROR) {
      const std::optional<int32_t> error = read_at<int32_t>(message->body, 0);
      if (!error || *error >= 0) return bad("an error without a number");
      // The number is a stranger's: its lowest value has no opposite.
      return base::fail_errno("sock_diag", *error == INT32_MIN ? 0 : -*error);
    }
    if (message->type != SOCK_DIAG_BY_FAMILY) continue;
    base::Status status = read_socket(message->body, sockets);
    if (!status) return status.error();
  }
  return true;
}

}  // namespace tidemark::parse
