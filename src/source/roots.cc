#include "source/roots.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace tidemark::source {
namespace {

constexpr const char* kDefaultProc = "/proc";

bool looks_like_proc(const base::Directory& directory) {
  if (base::exists_at(directory, "meminfo")) return true;
  base::Result<std::vector<std::string>> names =
      base::list_directory(directory);
  return names && std::ranges::any_of(*names, [](const std::string& name) {
           return base::parse_pid(name).has_value();
         });
}

bool is_procfs(const base::Directory& directory) {
  struct statfs info {};
  return ::fstatfs(directory.fd.get(), &info) == 0 &&
         info.f_type == PROC_SUPER_MAGIC;
}

// The procfs mounted at /proc, whatever path leads to it.
bool is_live_proc(const base::Directory& directory) {
  struct stat here {};
  struct stat live {};
  return ::fstat(directory.fd.get(), &here) == 0 &&
         ::stat(kDefaultProc, &live) == 0 && here.st_dev == live.st_dev;
}

}  // namespace

base::Result<Roots> open_roots(const std::string& proc_path) {
  std::string path = proc_path;
  if (path.empty()) {
    const char* from_environment = std::getenv("PROCFS");
    path =
        from_environment && *from_environment ? from_environment : kDefaultProc;
  }
  base::Result<base::Directory> proc = base::open_directory(path);
  if (!proc) {
    base::Error error = base::within("cannot open the proc tree", proc.error());
    return base::fail(error.kind, error.what,
                      "--proc and PROCFS name a directory like /proc");
  }
  if (!looks_like_proc(*proc)) {
    return base::fail(
        base::ErrorKind::NotFound,
        path + " is no proc tree: no process and no meminfo in it",
        "--proc and PROCFS name a directory like /proc");
  }
  const bool is_local = is_procfs(*proc);
  const bool is_live = is_local && is_live_proc(*proc);
  return Roots{std::move(*proc), is_live, is_local};
}

}  // namespace tidemark::source
