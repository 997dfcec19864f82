#include "source/file_names.h"

#include "base/file.h"

namespace tidemark::source {

FileNames::FileNames(const Roots& roots) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, "self/mountinfo");
  if (!text) return;
  base::Result<std::vector<parse::Mount>> mounts =
      parse::parse_mountinfo(*text);
  if (!mounts) return;
  for (parse::Mount& mount : *mounts) {
    mounts_[{mount.device_major, mount.device_minor}].push_back(
        std::move(mount));
  }
}

std::string FileNames::name(const model::CachedFile& file) const {
  const std::string device = std::to_string(file.device_major) + ":" +
                             std::to_string(file.device_minor);
  if (file.inode_id == 0) return "(gone meanwhile)";
  if (file.path.empty()) {
    return "(inode " + std::to_string(file.inode_id) + " on " + device + ")";
  }
  const char* deleted = file.link_count == 0 ? " (deleted)" : "";
  if (!file.is_whole) return "…" + file.path + deleted;
  auto mounts = mounts_.find({file.device_major, file.device_minor});
  if (mounts == mounts_.end()) {
    // The kernel's own mounts: "/memfd:name", "/SYSV00000000", "/dev/zero".
    return file.link_count == 0 ? file.path : file.path + " on " + device;
  }
  for (const parse::Mount& mount : mounts->second) {
    const std::string root = mount.root == "/" ? "" : mount.root;
    if (!file.path.starts_with(root)) continue;
    const std::string point = mount.mount_point == "/" ? "" : mount.mount_point;
    return point + file.path.substr(root.size()) + deleted;
  }
  return file.path + " on " + device + deleted;
}

}  // namespace tidemark::source
