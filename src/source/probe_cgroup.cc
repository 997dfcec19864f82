// Probes on control groups: which hierarchy accounts memory, and what of our
// own group may be read and made.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "parse/machine_files.h"
#include "source/cgroups.h"
#include "source/probe_parts.h"

namespace tidemark::source {
namespace {

using model::Capability;
using model::CgroupVersion;

struct MemoryHierarchy {
  CgroupVersion version = CgroupVersion::None;
  std::string mount_point;
  std::string mounted_root;
  bool has_v1 = false;
  bool has_v2 = false;
};

bool lists(std::string_view options, std::string_view wanted) {
  return std::ranges::count(base::split(options, ','), wanted) > 0;
}

bool has_memory_v2(const std::string& mount_point) {
  base::Result<base::Directory> root = base::open_directory(mount_point);
  if (!root) return false;
  base::Result<std::string> controllers =
      base::read_file_at(*root, "cgroup.controllers");
  return controllers && parse::lists_controller(*controllers, "memory");
}

MemoryHierarchy find_hierarchy(const Roots& roots) {
  MemoryHierarchy found;
  base::Result<std::string> text =
      base::read_file_at(roots.proc, "self/mountinfo");
  if (!text) return found;
  base::Result<std::vector<parse::Mount>> mounts =
      parse::parse_mountinfo(*text);
  if (!mounts) return found;
  for (const parse::Mount& mount : *mounts) {
    const bool is_v1 = mount.type == "cgroup";
    const bool is_v2 = mount.type == "cgroup2";
    found.has_v1 = found.has_v1 || is_v1;
    found.has_v2 = found.has_v2 || is_v2;
    const bool has_memory = is_v1 ? lists(mount.super_options, "memory")
                                  : is_v2 && has_memory_v2(mount.mount_point);
    if (!has_memory || found.version != CgroupVersion::None) continue;
    found.version = is_v1 ? CgroupVersion::V1 : CgroupVersion::V2;
    found.mount_point = mount.mount_point;
    found.mounted_root = mount.root;
  }
  return found;
}

// The group of this process in the hierarchy that accounts memory, as a path
// below the hierarchy's root.
std::string group_or_root(const Roots& roots,
                          const CgroupHierarchy& hierarchy) {
  std::string own = hierarchy.own_path(roots);
  return own.empty() ? "/" : own;
}

std::string directory_of(const MemoryHierarchy& hierarchy,
                         std::string_view group) {
  if (hierarchy.mounted_root != "/" &&
      group.starts_with(hierarchy.mounted_root)) {
    group.remove_prefix(hierarchy.mounted_root.size());
  }
  std::string directory = hierarchy.mount_point + std::string(group);
  if (directory.ends_with('/')) directory.pop_back();
  return directory;
}

// Our own group; the root group of v2 has no account, so any child of it then.
std::string group_to_try(const Roots& roots, const CgroupHierarchy& hierarchy,
                         const MemoryHierarchy& memory) {
  std::string own = group_or_root(roots, hierarchy);
  if (own != "/" || hierarchy.version() != CgroupVersion::V2) return own;
  base::Result<base::Directory> root = base::open_directory(memory.mount_point);
  if (!root) return own;
  base::Result<std::vector<std::string>> names = base::list_directory(*root);
  if (!names) return own;
  for (const std::string& name : *names) {
    if (base::exists_at(*root, name + "/memory.current")) return "/" + name;
  }
  return own;
}

Capability from_reading(const ProbeContext& context, const Question& question,
                        bool asks_peak) {
  const CgroupHierarchy hierarchy = CgroupHierarchy::find(context.roots);
  const MemoryHierarchy memory = find_hierarchy(context.roots);
  if (memory.version == CgroupVersion::None) {
    return missing(question, cgroup_layout(context.roots));
  }
  const std::string path = group_to_try(context.roots, hierarchy, memory);
  const model::Cgroup group = hierarchy.read(path);
  const model::Reading<uint64_t>& reading =
      asks_peak ? group.peak_bytes : group.charged_bytes;
  if (!reading) return missing(question, reading.unknown_because);
  return works(question, directory_of(memory, path));
}

// Systemd hands out groups on request; elsewhere root makes one that is ours
// and moves the shell into it. Never the group we are in: it may be the root of
// all, and to own that is to own every group.
std::string create_grant(CgroupVersion version, const std::string& directory) {
  if (::access("/run/systemd/system", F_OK) == 0 &&
      version == CgroupVersion::V2) {
    return "systemd-run --user --scope -p Delegate=yes tidemark ...";
  }
  return "sudo sh -c \"cd " + directory +
         " && mkdir -p tidemark && chown -R $(id -u) tidemark && echo $$ > "
         "tidemark/cgroup.procs\"";
}

}  // namespace

std::string cgroup_layout(const Roots& roots) {
  const MemoryHierarchy found = find_hierarchy(roots);
  if (!found.has_v1 && !found.has_v2) return "no cgroup hierarchy is mounted";
  const std::string layout = found.has_v1 && found.has_v2 ? "hybrid"
                             : found.has_v1               ? "v1"
                                                          : "v2";
  if (found.version == CgroupVersion::None) {
    return layout + ", no memory controller";
  }
  const char* version = found.version == CgroupVersion::V1 ? "v1" : "v2";
  return layout + ", memory on " + version + " at " + found.mount_point;
}

Capability probe_cgroup_memory(const ProbeContext& context,
                               const Question& question) {
  return from_reading(context, question, false);
}

Capability probe_cgroup_peak(const ProbeContext& context,
                             const Question& question) {
  return from_reading(context, question, true);
}

// Asks for the right and makes nothing.
Capability probe_cgroup_create(const ProbeContext& context,
                               const Question& question) {
  const MemoryHierarchy memory = find_hierarchy(context.roots);
  if (memory.version == CgroupVersion::None) {
    return missing(question, cgroup_layout(context.roots));
  }
  const std::string directory = directory_of(
      memory,
      group_or_root(context.roots, CgroupHierarchy::find(context.roots)));
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0) {
    return works(question, directory + " may be written");
  }
  if (errno == EROFS) {
    Capability row = denied(question, directory + ": mounted read-only");
    row.grant = "sudo mount -o remount,rw " + memory.mount_point;
    return row;
  }
  Capability row = failed_errno(question, directory, errno);
  row.grant = create_grant(memory.version, directory);
  return row;
}

}  // namespace tidemark::source
