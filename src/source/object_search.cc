#include "source/object_search.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <set>
#include <utility>

#include "parse/object_files.h"
#include "source/namespaces.h"
#include "source/process_parts.h"

namespace tidemark::source {
namespace {

using model::MemoryObject;
using model::ObjectKind;

// ---- SysV -------------------------------------------------------------------

std::string segment_name(uint32_t key) {
  std::array<char, 16> text{};
  const int length = std::snprintf(text.data(), text.size(), "SYSV%08x", key);
  return {text.data(), static_cast<size_t>(length)};
}

void add_segment(const parse::SysvSegment& segment, uint64_t namespace_id,
                 ObjectTable& table) {
  const size_t index = table.find_or_add(
      {ObjectKind::Sysv, 0, 0, segment.segment_id, namespace_id});
  MemoryObject& object = table.object(index);
  // Only a mapping tells whether it lies in huge pages, which are no shmem; the
  // table does not, so one that nobody has attached counts as ordinary.
  if (table.is_new()) object.is_shmem = true;
  object.name = segment_name(segment.key);
  object.attach_count = segment.attach_count;
  object.size_bytes = model::known(segment.size_bytes);
  constexpr const char* kNoColumn = "sysvipc/shm has no such column";
  object.alloc_bytes = segment.rss_bytes ? model::known(*segment.rss_bytes)
                                         : model::unknown<uint64_t>(kNoColumn);
  object.swap_bytes = segment.swap_bytes ? model::known(*segment.swap_bytes)
                                         : model::unknown<uint64_t>(kNoColumn);
}

base::Status read_segments(const Roots& roots, uint64_t namespace_id,
                           ObjectTable& table) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, "sysvipc/shm");
  if (!text) return text.error();
  base::Result<std::vector<parse::SysvSegment>> segments =
      parse::parse_sysvipc_shm(*text);
  if (!segments) return segments.error();
  for (const parse::SysvSegment& segment : *segments) {
    add_segment(segment, namespace_id, table);
  }
  return base::Ok{};
}

// ---- tmpfs ------------------------------------------------------------------

// Deeper trees are left out, as everything that loops would be.
constexpr int kMostLevels = 64;

class TmpfsSearch {
 public:
  TmpfsSearch(ObjectWalk& walk, int32_t pid, std::string mount_point)
      : walk_(walk), pid_(pid), mount_point_(std::move(mount_point)) {}

  // Files below the directory on the same device.
  void search(const base::Directory& directory, const FileFacts& top,
              const std::string& path, int level) {
    base::Result<std::vector<std::string>> names =
        base::list_directory(directory);
    if (!names || level > kMostLevels) {
      is_complete_ = false;
      return;
    }
    for (const std::string& name : *names) {
      base::Result<FileFacts> facts = stat_at(directory, name, false);
      // Gone meanwhile, or another file system mounted there.
      if (!facts || facts->device_major != top.device_major ||
          facts->device_minor != top.device_minor) {
        continue;
      }
      std::string below = path;
      below += '/';
      below += name;
      if (S_ISDIR(facts->mode)) {
        enter(directory, name, top, below, level);
      } else if (S_ISREG(facts->mode) || facts->block_bytes > 0) {
        add(*facts, below);
      }
    }
  }
  bool is_complete() const { return is_complete_; }

 private:
  void enter(const base::Directory& directory, const std::string& name,
             const FileFacts& top, const std::string& below, int level) {
    base::Fd fd(::openat(directory.fd.get(), name.c_str(),
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) {
      is_complete_ = false;
      return;
    }
    search(base::Directory{std::move(fd), directory.join(name)}, top, below,
           level + 1);
  }

  void add(const FileFacts& facts, const std::string& path) {
    ObjectTable& table = walk_.table();
    const size_t index =
        table.find_or_add({ObjectKind::Tmpfs, facts.device_major,
                           facts.device_minor, facts.inode_id, 0});
    MemoryObject& object = table.object(index);
    if (object.size_bytes) return;  // somebody has it open, or a second name
    object.name = mount_point_ + path;
    table.reach(index) = {pid_, "root" + object.name};
    object.is_shmem =
        walk_.file_systems().type_of(facts.device_major, facts.device_minor) ==
        FileSystemType::Shmem;
    object.size_bytes = model::known(facts.size_bytes);
    // Of ramfs the page cache is asked, like that of any file.
    if (object.is_shmem) object.alloc_bytes = model::known(facts.block_bytes);
  }

  ObjectWalk& walk_;
  int32_t pid_;
  std::string mount_point_;
  bool is_complete_ = true;
};

bool is_memory(const parse::Mount& mount) {
  return mount.type == "tmpfs" || mount.type == "devtmpfs" ||
         mount.type == "ramfs" || mount.type == "rootfs";
}

struct Searched {
  // Device and the part of it that was mounted.
  std::set<std::pair<std::pair<uint32_t, uint32_t>, std::string>> parts;
  std::vector<std::string> notes;
};

void search_mount(const base::Directory& process, int32_t pid,
                  const parse::Mount& mount, ObjectWalk& walk, Searched& done) {
  const std::pair device(mount.device_major, mount.device_minor);
  if (done.parts.contains({device, "/"}) ||
      done.parts.contains({device, mount.root})) {
    return;
  }
  const std::string name = "root" + mount.mount_point;
  base::Result<FileFacts> facts = stat_at(process, name, true);
  // Mounted over, or out of its reach: another mount may still show it.
  if (!facts || facts->device_major != mount.device_major ||
      facts->device_minor != mount.device_minor || !S_ISDIR(facts->mode)) {
    return;
  }
  base::Result<base::Directory> directory =
      base::open_directory_at(process, name);
  if (!directory) return;
  done.parts.insert({device, mount.root});
  const std::string shown = mount.mount_point == "/" ? "" : mount.mount_point;
  TmpfsSearch search(walk, pid, shown);
  search.search(*directory, *facts, "", 0);
  if (!search.is_complete()) {
    done.notes.push_back("not all of " + mount.mount_point +
                         " could be searched");
  }
}

}  // namespace

std::vector<std::string> search_segments(const Roots& roots, ObjectWalk& walk) {
  std::vector<std::string> notes;
  uint64_t own = 0;
  if (base::Result<base::Directory> self =
          base::open_directory_at(roots.proc, "self")) {
    base::Result<uint64_t> number = read_namespace(*self, "ipc");
    if (number) own = *number;
  }
  const auto read = [&](uint64_t namespace_id) {
    base::Status status = read_segments(roots, namespace_id, walk.table());
    // A kernel without SysV IPC has no table and no segments.
    if (!status && status.error().kind != base::ErrorKind::NotFound) {
      notes.push_back("SysV segments not listed: " + reason_of(status.error()));
    }
  };
  read(own);
  if (!roots.is_live) return notes;
  for (const auto& [number, pid] : walk.ipc_namespaces()) {
    if (number == own) continue;
    base::Result<base::Directory> process =
        base::open_directory_at(roots.proc, std::to_string(pid));
    if (!process) continue;  // it has ended
    base::Status status =
        within_namespace(*process, "ipc", [&, id = number] { read(id); });
    if (!status) {
      notes.push_back("SysV segments of ipc namespace " +
                      std::to_string(number) +
                      " not listed: " + reason_of(status.error()));
    }
  }
  return notes;
}

std::vector<std::string> search_tmpfs(const Roots& roots, ObjectWalk& walk) {
  Searched done;
  if (!walk.links_are_live()) return {};
  for (const auto& [number, pid] : walk.mount_namespaces()) {
    base::Result<base::Directory> process =
        base::open_directory_at(roots.proc, std::to_string(pid));
    if (!process) continue;  // it has ended
    base::Result<std::string> text = base::read_file_at(*process, "mountinfo");
    if (!text) continue;
    base::Result<std::vector<parse::Mount>> mounts =
        parse::parse_mountinfo(*text);
    if (!mounts) continue;
    // Whole file systems before parts of them.
    for (const bool whole : {true, false}) {
      for (const parse::Mount& mount : *mounts) {
        if (is_memory(mount) && (mount.root == "/") == whole) {
          search_mount(*process, pid, mount, walk, done);
        }
      }
    }
  }
  return std::move(done.notes);
}

}  // namespace tidemark::source
