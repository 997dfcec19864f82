#include "source/trace_instance.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "source/roots.h"
#include "source/tracefs.h"

namespace tidemark::source {
namespace {

constexpr mode_t kOwnerOnly = 0700;

base::Status remove_at(const base::Directory& instances,
                       const std::string& name) {
  constexpr int kTries = 200;
  constexpr timespec kPause{0, 10'000'000};
  for (int i = 0; i < kTries; ++i) {
    if (::unlinkat(instances.fd.get(), name.c_str(), AT_REMOVEDIR) == 0 ||
        errno == ENOENT) {
      return base::Ok{};
    }
    if (errno != EBUSY) break;
    ::nanosleep(&kPause, nullptr);
  }
  return base::fail_errno(instances.join(name), errno);
}

}  // namespace

base::Result<TraceInstance> TraceInstance::make(const base::Directory& tracefs,
                                                const std::string& name) {
  base::Result<base::Directory> instances =
      base::open_directory_at(tracefs, "instances");
  if (!instances) return instances.error();
  // One that is there is left by somebody with our pid who was killed together
  // with his guardian.
  if (::mkdirat(instances->fd.get(), name.c_str(), kOwnerOnly) != 0 &&
      errno != EEXIST) {
    return base::fail_errno("cannot make " + instances->join(name), errno);
  }
  base::Result<base::Directory> directory =
      base::open_directory_at(*instances, name);
  if (!directory) {
    static_cast<void>(remove_at(*instances, name));
    return directory.error();
  }
  return TraceInstance(std::move(*instances), std::move(*directory), name);
}

TraceInstance::TraceInstance(base::Directory instances,
                             base::Directory directory, std::string name)
    : instances_(std::move(instances)),
      directory_(std::move(directory)),
      name_(std::move(name)) {}

TraceInstance::TraceInstance(TraceInstance&& other) noexcept
    : instances_(std::move(other.instances_)),
      directory_(std::move(other.directory_)),
      name_(std::exchange(other.name_, {})) {}

TraceInstance::~TraceInstance() {
  if (name_.empty()) return;
  directory_.fd = base::Fd();
  static_cast<void>(remove_at(instances_, name_));
}

base::Status TraceInstance::write(const std::string& file,
                                  std::string_view text) const {
  const base::Fd fd(
      ::openat(directory_.fd.get(), file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return base::fail_errno(directory_.join(file), errno);
  if (::write(fd.get(), text.data(), text.size()) !=
      static_cast<ssize_t>(text.size())) {
    return base::fail_errno(directory_.join(file), errno);
  }
  return base::Ok{};
}

base::Status remove_trace_instance(const std::string& name) {
  base::Result<base::Directory> proc = base::open_directory("/proc");
  if (!proc) return proc.error();
  base::Result<base::Directory> tracefs =
      open_tracefs(Roots{std::move(*proc), true, true});
  if (!tracefs) return tracefs.error();
  base::Result<base::Directory> instances =
      base::open_directory_at(*tracefs, "instances");
  if (!instances) return instances.error();
  return remove_at(*instances, name);
}

}  // namespace tidemark::source
