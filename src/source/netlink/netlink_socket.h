// A netlink socket to the kernel that never blocks and never mistakes anybody
// else for the kernel.
//
// Whoever does not read fast enough loses messages: the kernel drops them and
// says ENOBUFS once. So the receive buffer is large (memory is taken only for
// what waits in it), and each such loss is counted.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace tidemark::source {

class NetlinkSocket {
 public:
  // `groups` is the mask of multicast groups to join; 0 for none.
  static base::Result<NetlinkSocket> open(int protocol, uint32_t groups);

  // One message, built from its body. Requests are carried out before this
  // returns, so their answer can be received at once.
  base::Status send(uint16_t type, uint16_t flags, std::string_view body) const;

  // The next datagram of the kernel, valid until the next call. Empty when none
  // is waiting.
  base::Result<std::string_view> receive();

  int fd() const { return fd_.get(); }
  // False when moved away, and in a child of ours, which shares the socket: it
  // must not speak for its parent when it ends.
  bool is_own() const;
  // How often the kernel found the buffer full; each time it has dropped one
  // message or more.
  uint64_t overrun_count() const { return overrun_count_; }

 private:
  explicit NetlinkSocket(base::Fd fd);

  base::Fd fd_;
  pid_t owner_pid_ = 0;
  std::string buffer_;
  uint64_t overrun_count_ = 0;
};

// Appends the bytes of a kernel struct to a body being built.
template <typename T>
void append_bytes(std::string& body, const T& value) {
  body.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Appends an attribute with its header and padding.
void append_attribute(std::string& body, uint16_t type,
                      std::string_view contents);

}  // namespace tidemark::source
