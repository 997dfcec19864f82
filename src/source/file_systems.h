// What kind of file system a device number stands for, in every mount
// namespace that was looked at, and in those the kernel mounts for itself.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "model/object.h"
#include "model/region.h"
#include "parse/machine_files.h"

namespace tidemark::source {

// What stat tells of a file.
struct FileFacts {
  uint32_t mode = 0;
  uint32_t link_count = 0;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint32_t special_major = 0;  // of a device file: which device it is
  uint32_t special_minor = 0;
  uint64_t inode_id = 0;
  uint64_t size_bytes = 0;
  uint64_t block_bytes = 0;
};

// Never asks a server, never mounts anything: what is known here is told.
base::Result<FileFacts> stat_at(const base::Directory& directory,
                                const std::string& name, bool follow_link);

enum class FileSystemType : uint8_t {
  Unknown,
  Local,
  Shmem,  // tmpfs and devtmpfs: pages are in the Shmem line
  Ramfs,  // memory too, but counted as page cache
  Hugetlb,
  Remote,  // opening a file may wait for somebody else
};

class FileSystems {
 public:
  // A running kernel is asked for the numbers of its internal file systems by
  // making an object in each; they are otherwise taken to be 00:01.
  explicit FileSystems(bool is_live);

  void learn(const std::vector<parse::Mount>& mounts);
  void learn(uint32_t major, uint32_t minor, FileSystemType type);
  FileSystemType type_of(uint32_t major, uint32_t minor) const;

  // The tmpfs behind memfds, shared anonymous memory and SysV segments.
  bool is_kernel_shmem(uint32_t major, uint32_t minor) const;

  // What a regular file is, by where it lies and what the kernel calls it. The
  // name alone proves nothing: anybody may call a file "/memfd:x (deleted)".
  model::ObjectKind kind_of(uint32_t major, uint32_t minor,
                            std::string_view name) const;

 private:
  std::map<std::pair<uint32_t, uint32_t>, FileSystemType> types_;
  std::pair<uint32_t, uint32_t> kernel_shmem_ = {0, 1};
};

// A file system nobody has listed (a lazily unmounted one, a subvolume of
// btrfs), asked itself.
FileSystemType ask_type(const base::Directory& directory,
                        const std::string& name);

}  // namespace tidemark::source
