// Where an HTTP server listens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace tidemark::base {

// "127.0.0.1:8080", "[::1]:0" (any free port), "unix:/PATH".
struct HttpAddress {
  std::string host;  // empty for a unix socket
  uint16_t port = 0;
  std::string socket_path;

  bool is_loopback() const;
};
// Misused for what is neither.
Result<HttpAddress> parse_http_address(std::string_view text);

// Open for connections. A unix socket is for this user alone; one that a killed
// server left is replaced, one that answers is not.
Result<Fd> listening_socket(const HttpAddress& address);

}  // namespace tidemark::base
