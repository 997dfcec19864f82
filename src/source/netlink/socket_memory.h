// How much memory the sockets of this network namespace have, by sock_diag.
#pragma once

#include <string>
#include <vector>

#include "parse/socket_diag.h"

namespace tidemark::source {

struct SocketMemoryAnswer {
  std::vector<parse::SocketMemory> sockets;
  std::string unknown_because;  // of sockets that are not among them
};

// Of the network namespace of the calling thread. Families that the kernel was
// built without are left out.
SocketMemoryAnswer read_socket_memory();

}  // namespace tidemark::source
