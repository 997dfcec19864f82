#include "source/tracefs.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <vector>

#include "parse/machine_files.h"

namespace tidemark::source {
namespace {

constexpr std::string_view kRights = "it needs root, or CAP_SYS_ADMIN";
constexpr std::string_view kMounting =
    "; or mount it: mount -t tracefs tracefs /sys/kernel/tracing";

std::optional<std::string> find_mount(const Roots& roots) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, "self/mountinfo");
  if (!text) return std::nullopt;
  base::Result<std::vector<parse::Mount>> mounts =
      parse::parse_mountinfo(*text);
  if (!mounts) return std::nullopt;
  for (const parse::Mount& mount : *mounts) {
    if (mount.type == "tracefs") return mount.mount_point;
  }
  return std::nullopt;
}

base::Error no_tracefs(int err) {
  if (err == ENODEV || err == ENOSYS) {
    return base::fail(base::ErrorKind::Unsupported,
                      "this kernel has no tracefs");
  }
  base::Error error = base::fail_errno("tracefs is not mounted; mounting", err);
  error.hint = std::string(kRights).append(kMounting);
  return error;
}

base::Result<base::Directory> mount_for_us() {
  const base::Fd context(
      static_cast<int>(::syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC)));
  if (!context) return no_tracefs(errno);
  if (::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr,
                nullptr, 0) != 0) {
    return no_tracefs(errno);
  }
  base::Fd mount(static_cast<int>(
      ::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, 0)));
  if (!mount) return no_tracefs(errno);
  return base::Directory{std::move(mount), "tracefs"};
}

// A mounted one may be closed to us and a new one not, and the other way round.
base::Result<base::Directory> open_mounted(const std::string& place) {
  base::Result<base::Directory> directory = base::open_directory(place);
  if (!directory) return directory;
  base::Result<base::Directory> events =
      base::open_directory_at(*directory, "events");
  if (!events) return events.error();
  return directory;
}

}  // namespace

base::Result<base::Directory> open_tracefs(const Roots& roots) {
  const std::optional<std::string> place = find_mount(roots);
  if (!place) return mount_for_us();
  base::Result<base::Directory> mounted = open_mounted(*place);
  if (mounted) return mounted;
  base::Result<base::Directory> ours = mount_for_us();
  if (ours) return ours;
  base::Error closed = mounted.error();
  if (closed.kind == base::ErrorKind::Denied) closed.hint = kRights;
  return closed;
}

base::Result<parse::TraceFormat> read_trace_format(
    const base::Directory& tracefs, const std::string& event) {
  const std::string name = "events/" + event + "/format";
  base::Result<std::string> text = base::read_file_at(tracefs, name);
  if (!text) return text.error();
  base::Result<parse::TraceFormat> format = parse::parse_trace_format(*text);
  if (!format) return base::within(tracefs.join(name), format.error());
  return format;
}

}  // namespace tidemark::source
