#include "source/file_systems.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace tidemark::source {
namespace {

using model::ObjectKind;

constexpr std::string_view kShmemTypes[] = {"tmpfs", "devtmpfs", "rootfs"};
// Where opening a file asks a server or another process.
constexpr std::string_view kRemoteTypes[] = {"nfs", "nfs4", "cifs", "smb3",
                                             "9p",  "ceph", "afs",  "autofs"};

FileSystemType type_named(std::string_view name) {
  if (std::ranges::find(kShmemTypes, name) != std::end(kShmemTypes)) {
    return FileSystemType::Shmem;
  }
  if (name == "ramfs") return FileSystemType::Ramfs;
  if (name == "hugetlbfs") return FileSystemType::Hugetlb;
  if (name.starts_with("fuse") || name == "virtiofs" ||
      std::ranges::find(kRemoteTypes, name) != std::end(kRemoteTypes)) {
    return FileSystemType::Remote;
  }
  return FileSystemType::Local;
}

// The device a memfd of these flags lies on.
base::Result<std::pair<uint32_t, uint32_t>> memfd_device(unsigned flags) {
  base::Fd fd(::memfd_create("tidemark", MFD_CLOEXEC | flags));
  struct stat facts {};
  if (!fd || ::fstat(fd.get(), &facts) != 0) {
    return base::fail_errno("memfd_create", errno);
  }
  return std::pair(static_cast<uint32_t>(major(facts.st_dev)),
                   static_cast<uint32_t>(minor(facts.st_dev)));
}

}  // namespace

base::Result<FileFacts> stat_at(const base::Directory& directory,
                                const std::string& name, bool follow_link) {
  struct statx facts {};
  const int flags = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT |
                    (follow_link ? 0 : AT_SYMLINK_NOFOLLOW);
  if (::statx(directory.fd.get(), name.c_str(), flags, STATX_BASIC_STATS,
              &facts) != 0) {
    return base::fail_errno(directory.join(name), errno);
  }
  constexpr uint64_t kBlockBytes = 512;
  return FileFacts{facts.stx_mode,
                   facts.stx_nlink,
                   facts.stx_dev_major,
                   facts.stx_dev_minor,
                   facts.stx_rdev_major,
                   facts.stx_rdev_minor,
                   facts.stx_ino,
                   facts.stx_size,
                   facts.stx_blocks * kBlockBytes};
}

FileSystems::FileSystems(bool is_live) {
  if (!is_live) return;
  base::Result<std::pair<uint32_t, uint32_t>> shmem = memfd_device(0);
  if (shmem) kernel_shmem_ = *shmem;
  // One internal mount for each size of huge page; making the memfd takes no
  // page of the pool.
  constexpr std::array<unsigned, 4> kSizes = {0, MFD_HUGE_64KB, MFD_HUGE_2MB,
                                              MFD_HUGE_1GB};
  for (const unsigned size : kSizes) {
    base::Result<std::pair<uint32_t, uint32_t>> huge =
        memfd_device(MFD_HUGETLB | size);
    if (huge) types_[*huge] = FileSystemType::Hugetlb;
  }
}

void FileSystems::learn(const std::vector<parse::Mount>& mounts) {
  for (const parse::Mount& mount : mounts) {
    learn(mount.device_major, mount.device_minor, type_named(mount.type));
  }
}

void FileSystems::learn(uint32_t major, uint32_t minor, FileSystemType type) {
  types_.emplace(std::pair(major, minor), type);
}

FileSystemType FileSystems::type_of(uint32_t major, uint32_t minor) const {
  if (is_kernel_shmem(major, minor)) return FileSystemType::Shmem;
  const auto found = types_.find({major, minor});
  return found == types_.end() ? FileSystemType::Unknown : found->second;
}

bool FileSystems::is_kernel_shmem(uint32_t major, uint32_t minor) const {
  return kernel_shmem_ == std::pair(major, minor);
}

ObjectKind FileSystems::kind_of(uint32_t major, uint32_t minor,
                                std::string_view name) const {
  if (is_kernel_shmem(major, minor)) {
    if (name.starts_with("/memfd:")) return ObjectKind::Memfd;
    if (name.starts_with("/SYSV")) return ObjectKind::Sysv;
    return ObjectKind::SharedAnon;
  }
  switch (type_of(major, minor)) {
    case FileSystemType::Shmem:
    case FileSystemType::Ramfs:
      return ObjectKind::Tmpfs;
    case FileSystemType::Hugetlb:
      return name.starts_with("/SYSV") ? ObjectKind::Sysv : ObjectKind::Hugetlb;
    default:
      return ObjectKind::File;
  }
}

FileSystemType ask_type(const base::Directory& directory,
                        const std::string& name) {
  base::Fd fd(::openat(directory.fd.get(), name.c_str(), O_PATH | O_CLOEXEC));
  struct statfs facts {};
  if (!fd || ::fstatfs(fd.get(), &facts) != 0) return FileSystemType::Unknown;
  if (facts.f_type == TMPFS_MAGIC) return FileSystemType::Shmem;
  if (facts.f_type == RAMFS_MAGIC) return FileSystemType::Ramfs;
  if (facts.f_type == HUGETLBFS_MAGIC) return FileSystemType::Hugetlb;
  return FileSystemType::Local;
}

}  // namespace tidemark::source
