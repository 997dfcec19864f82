// Parses what sock_diag answers: how much memory each socket has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::parse {

struct SocketMemory {
  uint64_t inode_id = 0;
  uint8_t family = 0;  // AF_UNIX, AF_INET, …
  std::string name;    // of a unix socket: its path, or @ and its abstract name
  // What it may take, and what it has taken: received and not yet read, sent
  // and not yet gone, set aside for the next, options.
  uint64_t limit_bytes = 0;
  uint64_t used_bytes = 0;
  bool operator==(const SocketMemory&) const = default;
};

// Appends the sockets of one datagram. True when the answer goes on, false when
// this was its end. An answer that is an error becomes one: a family that this
// kernel was built without is NotFound.
base::Result<bool> parse_socket_diag(std::string_view datagram,
                                     std::vector<SocketMemory>& sockets);

}  // namespace tidemark::parse
