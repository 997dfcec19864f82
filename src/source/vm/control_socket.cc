#include "source/vm/control_socket.h"

#include "base/file.h"

namespace tidemark::source {
namespace {

// What the path starts at, for the process it belongs to.
base::Result<base::Directory> start_of(const Roots& roots,
                                       const ControlPath& control) {
  const bool is_absolute = control.path.starts_with('/');
  if (control.pid == 0) return base::open_directory(is_absolute ? "/" : ".");
  return base::open_directory_at(
      roots.proc,
      std::to_string(control.pid) + (is_absolute ? "/root" : "/cwd"));
}

}  // namespace

base::Result<base::UnixSocket> connect_control(const Roots& roots,
                                               const ControlPath& control,
                                               base::SocketType type) {
  base::Result<base::Directory> start = start_of(roots, control);
  if (!start) return start.error();
  return base::UnixSocket::connect_at(*start, control.path, type);
}

std::string path_from_here(const ControlPath& control) {
  if (control.pid == 0) return control.path;
  const bool is_absolute = control.path.starts_with('/');
  return "/proc/" + std::to_string(control.pid) +
         (is_absolute ? "/root" : "/cwd/") + control.path;
}

bool is_control_directory(const Roots& roots, const ControlPath& control) {
  base::Result<base::Directory> start = start_of(roots, control);
  if (!start) return false;
  const size_t slash = control.path.starts_with('/') ? 1 : 0;
  return static_cast<bool>(
      base::open_directory_at(*start, control.path.substr(slash)));
}

}  // namespace tidemark::source
