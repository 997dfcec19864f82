// Answers of sock_diag. Nothing but a crash is wrong, save a socket without an
// inode, which nobody could be found to hold.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "parse/socket_diag.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;  // NOLINT(google-build-using-namespace)
  const std::string text(data, data + size);
  std::vector<parse::SocketMemory> sockets;
  (void)parse::parse_socket_diag(text, sockets);
  for (const parse::SocketMemory& socket : sockets) {
    if (socket.inode_id == 0) std::abort();
  }
  return 0;
}
