#include "source/netlink/socket_memory.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/netlink_diag.h>
#include <linux/packet_diag.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string_view>

#include "source/netlink/netlink_socket.h"
#include "source/process_parts.h"

namespace tidemark::source {
namespace {

constexpr uint32_t kAllStates = 0xffffffff;

template <typename Request>
std::string bytes_of(const Request& request) {
  std::string body;
  append_bytes(body, request);
  return body;
}

std::string inet_request(uint8_t family, uint8_t protocol) {
  inet_diag_req_v2 request{};
  request.sdiag_family = family;
  request.sdiag_protocol = protocol;
  request.idiag_ext = 1U << (INET_DIAG_SKMEMINFO - 1);
  request.idiag_states = kAllStates;
  return bytes_of(request);
}

std::vector<std::string> all_requests() {
  unix_diag_req local{};
  local.sdiag_family = AF_UNIX;
  local.udiag_states = kAllStates;
  local.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_MEMINFO;
  netlink_diag_req netlink{};
  netlink.sdiag_family = AF_NETLINK;
  netlink.sdiag_protocol = NDIAG_PROTO_ALL;
  netlink.ndiag_show = NDIAG_SHOW_MEMINFO;
  packet_diag_req packet{};
  packet.sdiag_family = AF_PACKET;
  packet.pdiag_show = PACKET_SHOW_MEMINFO;
  return {bytes_of(local),
          inet_request(AF_INET, IPPROTO_TCP),
          inet_request(AF_INET6, IPPROTO_TCP),
          inet_request(AF_INET, IPPROTO_UDP),
          inet_request(AF_INET6, IPPROTO_UDP),
          inet_request(AF_INET, IPPROTO_RAW),
          inet_request(AF_INET6, IPPROTO_RAW),
          bytes_of(netlink),
          bytes_of(packet)};
}

base::Status ask(NetlinkSocket& socket, const std::string& request,
                 std::vector<parse::SocketMemory>& sockets) {
  base::Status sent =
      socket.send(SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, request);
  if (!sent) return sent;
  for (;;) {
    base::Result<std::string_view> datagram = socket.receive();
    if (!datagram) return datagram.error();
    if (datagram->empty()) return base::Ok{};
    base::Result<bool> goes_on = parse::parse_socket_diag(*datagram, sockets);
    if (!goes_on) return goes_on.error();
    if (!*goes_on) return base::Ok{};
  }
}

}  // namespace

SocketMemoryAnswer read_socket_memory() {
  SocketMemoryAnswer answer;
  answer.unknown_because = "sock_diag does not list it";
  base::Result<NetlinkSocket> socket =
      NetlinkSocket::open(NETLINK_SOCK_DIAG, 0);
  if (!socket) {
    answer.unknown_because = reason_of(socket.error());
    return answer;
  }
  for (const std::string& request : all_requests()) {
    base::Status status = ask(*socket, request, answer.sockets);
    if (!status && status.error().kind != base::ErrorKind::NotFound) {
      answer.unknown_because = reason_of(status.error());
    }
  }
  return answer;
}

}  // namespace tidemark::source
