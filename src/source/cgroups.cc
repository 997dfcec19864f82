#include "source/cgroups.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/text.h"
#include "parse/machine_files.h"

namespace tidemark::source {
namespace {

using model::CgroupVersion;

constexpr const char* kChargeV1 = "memory.usage_in_bytes";
constexpr const char* kChargeV2 = "memory.current";

struct Candidate {
  CgroupVersion version = CgroupVersion::None;
  std::string directory;
  std::string mounted_root = "/";
  bool charges_hugetlb = false;
};

bool has_option(const parse::Mount& mount, std::string_view wanted) {
  for (std::string_view option : base::split(mount.super_options, ',')) {
    if (option == wanted) return true;
  }
  return false;
}

bool has_memory_v2(const base::Directory& directory) {
  base::Result<std::string> controllers =
      base::read_file_at(directory, "cgroup.controllers");
  return controllers && parse::lists_controller(*controllers, "memory");
}

// The mounts as the running system lists them.
std::vector<Candidate> mounted_candidates(const Roots& roots) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, "self/mountinfo");
  if (!text) return {};
  base::Result<std::vector<parse::Mount>> mounts =
      parse::parse_mountinfo(*text);
  if (!mounts) return {};
  std::vector<Candidate> found;
  for (const parse::Mount& mount : *mounts) {
    if (mount.type == "cgroup" && has_option(mount, "memory")) {
      found.push_back({CgroupVersion::V1, mount.mount_point, mount.root});
    } else if (mount.type == "cgroup2") {
      // Since 6.7 a mount option makes the memory controller count hugetlb.
      found.push_back({CgroupVersion::V2, mount.mount_point, mount.root,
                       has_option(mount, "memory_hugetlb_accounting")});
    }
  }
  return found;
}

// Beside a copied proc, or the host's mounted into a container, its cgroup
// tree is expected where sysfs would have it, or plainly as `cgroup`.
std::vector<Candidate> neighbour_candidates(const Roots& roots) {
  std::vector<Candidate> found;
  for (const char* place : {"../sys/fs/cgroup", "../cgroup"}) {
    const std::string base = roots.proc.join(place);
    found.push_back({CgroupVersion::V1, base + "/memory", "/"});
    found.push_back({CgroupVersion::V2, base, "/"});
    found.push_back({CgroupVersion::V2, base + "/unified", "/"});
  }
  return found;
}

bool accounts_memory(const Candidate& candidate,
                     const base::Directory& directory) {
  if (candidate.version == CgroupVersion::V2) return has_memory_v2(directory);
  // A v2 group may be called "memory" too; only v1 has this file everywhere.
  return base::exists_at(directory, "memory.usage_in_bytes");
}

// "/a/b" is at or below "/a"; "/ab" is not.
bool lies_in(std::string_view path, std::string_view group) {
  return path.starts_with(group) &&
         (path.size() == group.size() || path[group.size()] == '/');
}

bool is_cgroup_filesystem(const base::Directory& directory) {
  struct statfs info {};
  if (::fstatfs(directory.fd.get(), &info) != 0) return false;
  return info.f_type == CGROUP_SUPER_MAGIC ||
         info.f_type == CGROUP2_SUPER_MAGIC;
}

}  // namespace

CgroupHierarchy CgroupHierarchy::find(const Roots& roots) {
  CgroupHierarchy hierarchy;
  const std::vector<Candidate> candidates =
      roots.is_live ? mounted_candidates(roots) : neighbour_candidates(roots);
  for (const Candidate& candidate : candidates) {
    base::Result<base::Directory> directory =
        base::open_directory(candidate.directory);
    if (!directory || !accounts_memory(candidate, *directory)) continue;
    hierarchy.version_ = candidate.version;
    hierarchy.mounted_root_ = candidate.mounted_root;
    hierarchy.charges_hugetlb_ = candidate.charges_hugetlb;
    hierarchy.has_real_inodes_ = is_cgroup_filesystem(*directory);
    hierarchy.root_ = std::move(*directory);
    return hierarchy;
  }
  hierarchy.note_ =
      roots.is_live
          ? "no mounted cgroup hierarchy accounts memory"
          : "no cgroup tree with memory files beside " + roots.proc.path;
  return hierarchy;
}

std::string_view CgroupHierarchy::path_of(
    const std::vector<parse::CgroupMembership>& memberships) const {
  for (const parse::CgroupMembership& membership : memberships) {
    const bool is_v2 = membership.controllers.empty();
    if (version_ == CgroupVersion::V2 && is_v2) return membership.path;
    if (version_ != CgroupVersion::V1) continue;
    for (std::string_view name : base::split(membership.controllers, ',')) {
      if (name == "memory") return membership.path;
    }
  }
  // Without a hierarchy of its own the v2 line still names the unit.
  if (version_ == CgroupVersion::None) {
    for (const parse::CgroupMembership& membership : memberships) {
      if (membership.controllers.empty()) return membership.path;
    }
  }
  return {};
}

model::Reading<uint64_t> CgroupHierarchy::read_bytes(
    const base::Directory& group, bool is_root, const char* v1_name,
    const char* v2_name) const {
  const char* name = version_ == CgroupVersion::V1 ? v1_name : v2_name;
  base::Result<std::string> text = base::read_file_at(group, name);
  if (!text && is_root && mounted_root_ == "/" &&
      version_ == CgroupVersion::V2) {
    return model::unknown<uint64_t>("the root group of v2 has no account");
  }
  if (!text) return model::unknown<uint64_t>(text.error().what);
  base::Result<std::optional<uint64_t>> number =
      parse::parse_cgroup_number(*text);
  if (!number) return model::unknown<uint64_t>(number.error().what);
  if (!*number) return model::unknown<uint64_t>("no limit");
  return model::known(**number);
}

base::Result<base::Directory> CgroupHierarchy::open(
    const std::string& path) const {
  if (!root_) return base::fail(base::ErrorKind::Unsupported, note_);
  std::string_view below = path;
  if (mounted_root_ != "/" && lies_in(below, mounted_root_)) {
    below.remove_prefix(mounted_root_.size());
  }
  while (below.starts_with('/'))
    below.remove_prefix(1);
  return base::open_directory_at(*root_,
                                 below.empty() ? "." : std::string(below));
}

base::Result<base::Fd> CgroupHierarchy::open_charge(
    const std::string& path) const {
  base::Result<base::Directory> directory = open(path);
  if (!directory) return directory.error();
  return base::open_file_at(
      *directory, version_ == CgroupVersion::V1 ? kChargeV1 : kChargeV2);
}

std::map<uint64_t, std::string> CgroupHierarchy::list() const {
  std::map<uint64_t, std::string> groups;
  if (!root_ || !has_real_inodes_) return groups;
  // Depth is what makers of containers nest; a loop is impossible.
  std::vector<std::string> open_paths = {"."};
  while (!open_paths.empty()) {
    const std::string path = std::move(open_paths.back());
    open_paths.pop_back();
    base::Result<base::Directory> directory =
        base::open_directory_at(*root_, path);
    if (!directory) continue;  // removed meanwhile
    struct stat info {};
    if (::fstat(directory->fd.get(), &info) != 0) continue;
    // The first is "."; those below it begin with "./".
    std::string whole = mounted_root_ == "/" ? "" : mounted_root_;
    whole += path.substr(1);
    groups[info.st_ino] = whole.empty() ? "/" : std::move(whole);
    base::Result<std::vector<std::string>> names =
        base::list_directories(*directory);
    if (!names) continue;
    for (const std::string& name : *names) {
      std::string below = path;
      below += "/";
      below += name;
      open_paths.push_back(std::move(below));
    }
  }
  return groups;
}

model::Cgroup CgroupHierarchy::read(const std::string& path) const {
  model::Cgroup group;
  group.path = path;
  base::Result<base::Directory> directory = open(path);
  if (!directory) {
    group.charged_bytes = model::unknown<uint64_t>(directory.error().what);
    group.peak_bytes = model::unknown<uint64_t>(directory.error().what);
    return group;
  }
  const bool is_root = path == "/" || path == mounted_root_;
  struct stat info {};
  if (has_real_inodes_ && ::fstat(directory->fd.get(), &info) == 0) {
    group.inode_id = info.st_ino;
  }
  group.charged_bytes = read_bytes(*directory, is_root, kChargeV1, kChargeV2);
  group.peak_bytes = read_bytes(*directory, is_root,
                                "memory.max_usage_in_bytes", "memory.peak");
  group.limit_bytes =
      read_bytes(*directory, is_root, "memory.limit_in_bytes", "memory.max")
          .value;
  return group;
}

model::Cgroup CgroupHierarchy::read_with_stat(const std::string& path) const {
  model::Cgroup group = read(path);
  base::Result<base::Directory> directory = open(path);
  if (!directory) return group;
  base::Result<std::string> text =
      base::read_file_at(*directory, "memory.stat");
  if (!text) return group;
  base::Result<model::GroupStat> stat =
      parse::parse_group_stat(*text, version_);
  if (stat) group.stat = *stat;
  return group;
}

std::string CgroupHierarchy::path_of(const Roots& roots, int32_t pid) const {
  return path_in(roots, std::to_string(pid) + "/cgroup");
}

std::string CgroupHierarchy::own_path(const Roots& roots) const {
  return path_in(roots, "self/cgroup");
}

std::string CgroupHierarchy::path_in(const Roots& roots,
                                     const std::string& file) const {
  base::Result<std::string> text = base::read_file_at(roots.proc, file);
  if (!text) return {};
  base::Result<std::vector<parse::CgroupMembership>> memberships =
      parse::parse_cgroup(*text);
  return memberships ? std::string(path_of(*memberships)) : std::string();
}

}  // namespace tidemark::source
