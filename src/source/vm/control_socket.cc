#include "source/vm/control_socket.h"

#include "base/file.h"

namespace tidemark::source {
namespace {

std::string below_proc(const ControlPath& control) {
  const std::string process = std::to_string(control.pid);
  return control.path.starts_with('/') ? process + "/root" + control.path
                                       : process + "/cwd/" + control.path;
}

}  // namespace

base::Result<base::UnixSocket> connect_control(const Roots& roots,
                                               const ControlPath& control,
                                               base::SocketType type) {
  if (control.pid != 0) {
    return base::UnixSocket::connect_at(roots.proc, below_proc(control), type);
  }
  base::Result<base::Directory> here =
      base::open_directory(control.path.starts_with('/') ? "/" : ".");
  if (!here) return here.error();
  return base::UnixSocket::connect_at(
      *here, control.path.substr(control.path.starts_with('/') ? 1 : 0), type);
}

bool is_control_directory(const Roots& roots, const ControlPath& control) {
  if (control.pid == 0) {
    return static_cast<bool>(base::open_directory(control.path));
  }
  return static_cast<bool>(
      base::open_directory_at(roots.proc, below_proc(control)));
}

}  // namespace tidemark::source
