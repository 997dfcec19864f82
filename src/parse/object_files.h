// Parses what tells of memory objects: the links of descriptors, fdinfo of the
// kinds that have memory behind them, and the table of SysV segments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::parse {

// The target of a link in /proc/PID/fd, taken apart.
struct DescriptorLink {
  enum class Type : uint8_t {
    Socket,     // "socket:[123]"
    Pipe,       // "pipe:[123]"
    AnonInode,  // "anon_inode:[eventfd]", "anon_inode:bpf-map"
    Namespace,  // "net:[4026531840]", "pidfd:[1]" and other numbered things
    Path,       // anything that begins with a slash
    Other,
  };
  Type type = Type::Other;
  uint64_t inode_id = 0;  // of Socket, Pipe and Namespace
  // Of AnonInode its type without brackets, of Namespace its type, else all.
  std::string_view name;
  bool operator==(const DescriptorLink&) const = default;
};
DescriptorLink parse_descriptor_link(std::string_view target);

// The lines of fdinfo that say how large something is. Each kind of descriptor
// has its own; a known label with an unreadable number is an error.
struct ObjectFdInfo {
  std::optional<uint64_t> memlock_bytes;  // BPF maps and programs
  std::optional<uint64_t> map_id;
  std::optional<uint64_t> program_id;
  std::optional<uint64_t> map_type;
  std::optional<uint64_t> key_bytes;
  std::optional<uint64_t> value_bytes;
  std::optional<uint64_t> entry_count;
  std::optional<uint64_t> size_bytes;       // dma-buf
  std::optional<uint64_t> submission_mask;  // io_uring: entries - 1
  std::optional<uint64_t> completion_mask;
  bool operator==(const ObjectFdInfo&) const = default;
};
base::Result<ObjectFdInfo> parse_object_fdinfo(std::string_view text);

// One line of /proc/sysvipc/shm.
struct SysvSegment {
  uint32_t key = 0;
  uint64_t segment_id = 0;  // shmid
  uint64_t size_bytes = 0;
  uint64_t attach_count = 0;
  int32_t creator_pid = 0;
  std::optional<uint64_t> rss_bytes;  // since 2.6.34
  std::optional<uint64_t> swap_bytes;
  bool operator==(const SysvSegment&) const = default;
};
// Columns are found by the names in the first line, since their number has
// changed before.
base::Result<std::vector<SysvSegment>> parse_sysvipc_shm(std::string_view text);

}  // namespace tidemark::parse
