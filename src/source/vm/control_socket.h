// The way to a monitor's control socket.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unix_socket.h"
#include "source/roots.h"

namespace tidemark::source {

// A path of a command line means what it did to that process: below its root
// and, if relative, its working directory. One that the user gave is ours.
struct ControlPath {
  std::string path;
  int32_t pid = 0;  // whose path it is; 0: ours
};

base::Result<base::UnixSocket> connect_control(const Roots& roots,
                                               const ControlPath& control,
                                               base::SocketType type);

// The same as a path of ours, for a program that we start.
std::string path_from_here(const ControlPath& control);

// Whether it leads to a directory, as crosvm's --socket may.
bool is_control_directory(const Roots& roots, const ControlPath& control);

}  // namespace tidemark::source
