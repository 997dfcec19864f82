// Memory objects: what mappings and descriptors refer to. The file, the memfd
// or the segment has the memory; a process only reaches it, by mapping it or by
// holding it open, and some objects are reached by nobody.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine.h"
#include "model/process.h"
#include "model/reading.h"

namespace tidemark::model {

enum class ObjectKind : uint8_t {
  File,
  DeletedFile,  // has no name any more; its memory goes with its last user
  Tmpfs,        // a file of tmpfs, ramfs or devtmpfs
  Memfd,
  SharedAnon,  // mmap of MAP_SHARED and MAP_ANONYMOUS
  Sysv,
  Hugetlb,
  DmaBuf,
  Device,  // device memory, mapped
  BpfMap,
  BpfProgram,
  Socket,
  Pipe,
  IoUring,
  PrivateCopy,  // what one private mapping has written of a file
  Handle,       // eventfd, epoll, …: all of one type together
};
inline constexpr size_t kObjectKindCount = 16;
std::string_view object_kind_name(ObjectKind kind);   // for people
std::string_view object_kind_token(ObjectKind kind);  // for JSON

// What makes two references refer to the same object. Device and inode as
// stat() tells them, never as maps prints them: those are wrong on btrfs and
// overlayfs. Of a SysV segment the inode is its shmid, which says nothing
// without its ipc namespace; of BPF objects the inode is the kernel's own id.
// A file that loses its name stays the same object, so its kind here is File.
struct ObjectKey {
  ObjectKind kind = ObjectKind::File;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode_id = 0;
  uint64_t namespace_id = 0;
  bool operator==(const ObjectKey&) const = default;
};

// What descriptors and mappings let their holder do. Fuchsia's map, duplicate
// and transfer rights do not exist here: whoever can reach it may do these.
struct ObjectRights {
  bool read = false;
  bool write = false;
  bool execute = false;
  void add(const ObjectRights& other);
  bool operator==(const ObjectRights&) const = default;
};
// "rw-".
std::string rights_letters(const ObjectRights& rights);

// All that one process has of one object.
struct ObjectReference {
  size_t process_index = 0;  // in ObjectScan::processes
  uint32_t mapping_count = 0;
  uint32_t descriptor_count = 0;
  ObjectRights rights;
  bool operator==(const ObjectReference&) const = default;
};

struct MemoryObject {
  ObjectKey key;
  ObjectKind kind = ObjectKind::File;
  std::string name;
  bool is_deleted = false;
  // Its pages are in meminfo's Shmem line.
  bool is_shmem = false;
  Reading<uint64_t> size_bytes;   // how long it is
  Reading<uint64_t> alloc_bytes;  // what of it is in RAM
  Reading<uint64_t> swap_bytes;   // what of it is swapped out
  // Private mappings that may be written: each is a copy-on-write child.
  uint64_t child_count = 0;
  std::optional<ObjectKey> parent;  // of a PrivateCopy
  // Nothing led to it but its pages in RAM.
  bool is_found_by_pages = false;
  // Of a SysV segment: mappings as the kernel counts them, those of processes
  // we could not read among them. Of what its pages told of: 1 if it is mapped.
  uint64_t attach_count = 0;
  std::vector<ObjectReference> references;
};
// As it is printed and typed: "memfd:1054", "file:fe:00:12345",
// "sysv:4026531839:3". Two objects never share one while both exist.
std::string object_id(const MemoryObject& object);
std::string object_id(const ObjectKey& key, std::string_view name);

// A process the walk has met.
struct ObjectProcess {
  ProcessId id;
  std::string name;
  // Ok also when a part could not be read, which is then said below.
  ProcessState state = ProcessState::Ok;
  std::string unknown_because;
  std::optional<uint64_t> rss_bytes;  // of those that could not be read
};

// What told of descriptors and mappings. Both tell the same.
enum class ObjectMeans : uint8_t { Proc, Bpf };
std::string_view object_means_token(ObjectMeans means);

struct ObjectScan {
  uint64_t started_realtime_ns = 0;
  uint64_t started_monotonic_ns = 0;
  uint64_t ended_monotonic_ns = 0;
  bool reader_is_root = false;
  ObjectMeans means = ObjectMeans::Proc;
  bool pages_were_read = false;
  std::optional<MemInfo> meminfo;
  std::vector<ObjectProcess> processes;
  std::vector<MemoryObject> objects;
  // What was left out or could not be asked, in words.
  std::vector<std::string> notes;
  uint64_t ended_count = 0;  // processes that ended during the walk
};

}  // namespace tidemark::model
