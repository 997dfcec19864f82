#include "source/netlink/netlink_socket.h"

#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tidemark::source {
namespace {

// The kernel doubles it and counts its own overhead against it, 830 bytes for
// an event: it holds the forks and exits of 80 000 processes (measured
// on 6.18).
constexpr int kReceiveBytes = 64 << 20;

// The connector's longest message is 16 KiB, and taskstats' under 2.
constexpr size_t kDatagramBytes = 32 << 10;

// The first needs CAP_NET_ADMIN and takes any size; the second takes as much as
// net.core.rmem_max allows and never says that it was less.
void enlarge_buffer(int fd) {
  if (::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBytes,
                   sizeof kReceiveBytes) == 0) {
    return;
  }
  (void)::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kReceiveBytes,
                     sizeof kReceiveBytes);
}

}  // namespace

NetlinkSocket::NetlinkSocket(base::Fd fd)
    : fd_(std::move(fd)),
      owner_pid_(::getpid()),
      buffer_(kDatagramBytes, '\0') {}

base::Result<NetlinkSocket> NetlinkSocket::open(int protocol, uint32_t groups) {
  base::Fd fd(
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  if (!fd) {
    const int err = errno;
    return err == EPROTONOSUPPORT
               ? base::fail(base::ErrorKind::Unsupported,
                            "this kernel has no such netlink protocol")
               : base::fail_errno("opening a netlink socket", err);
  }
  enlarge_buffer(fd.get());
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = groups;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address),
             sizeof address) != 0) {
    return base::fail_errno("binding a netlink socket", errno);
  }
  return NetlinkSocket(std::move(fd));
}

base::Status NetlinkSocket::send(uint16_t type, uint16_t flags,
                                 std::string_view body) const {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<uint32_t>(sizeof header + body.size());
  header.nlmsg_type = type;
  header.nlmsg_flags = flags;
  std::string message;
  append_bytes(message, header);
  message += body;
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  ssize_t sent = -1;
  do {
    sent = ::sendto(fd_.get(), message.data(), message.size(), 0,
                    reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) return base::Ok{};
  // The protocol is there and nobody serves it: a network namespace that is
  // not the initial one.
  if (errno == ECONNREFUSED) {
    return base::fail(base::ErrorKind::Unsupported,
                      "nobody serves it in this network namespace");
  }
  return base::fail_errno("sending to the kernel", errno);
}

base::Result<std::string_view> NetlinkSocket::receive() {
  for (;;) {
    sockaddr_nl sender{};
    socklen_t sender_size = sizeof sender;
    const ssize_t got =
        ::recvfrom(fd_.get(), buffer_.data(), buffer_.size(), 0,
                   reinterpret_cast<sockaddr*>(&sender), &sender_size);
    if (got < 0 && errno == ENOBUFS) {
      ++overrun_count_;
    } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return std::string_view();
    } else if (got < 0 && errno != EINTR) {
      return base::fail_errno("receiving from the kernel", errno);
    } else if (got > 0 && sender.nl_pid == 0) {
      return std::string_view(buffer_.data(), static_cast<size_t>(got));
    }
  }
}

bool NetlinkSocket::is_own() const {
  return fd_.get() >= 0 && owner_pid_ == ::getpid();
}

void append_attribute(std::string& body, uint16_t type,
                      std::string_view contents) {
  nlattr header{};
  header.nla_len = static_cast<uint16_t>(sizeof header + contents.size());
  header.nla_type = type;
  append_bytes(body, header);
  body += contents;
  body.resize((body.size() + 3) / 4 * 4);
}

}  // namespace tidemark::source
