// One mapping of a process's address space, as maps and smaps print it.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/smaps_fields.h"

namespace tidemark::model {

struct Permissions {
  bool read = false;
  bool write = false;
  bool execute = false;
  bool shared = false;  // 's' in the fourth column; 'p' is private
  bool operator==(const Permissions&) const = default;
};
// "r-xp", as maps prints it.
std::string permission_letters(const Permissions& permissions);
Permissions permissions_from_letters(std::string_view letters);

// Two-letter codes of the VmFlags line, one bit each, in the order of
// kVmFlagNames; codes of newer kernels set kVmFlagOther.
inline constexpr std::string_view kVmFlagNames[] = {
    "rd", "wr", "ex", "sh", "mr", "mw", "me", "ms", "gd", "pf",
    "dw", "lo", "io", "sr", "rr", "dc", "de", "ac", "nr", "ht",
    "sf", "ar", "wf", "dd", "sd", "mm", "hg", "nh", "mg", "bt",
    "mt", "um", "uw", "ui", "ss", "sl", "lf", "dp", "gu",
};
inline constexpr size_t kVmFlagCount = std::size(kVmFlagNames);
inline constexpr uint64_t kVmFlagOther = uint64_t{1} << 63;
uint64_t vm_flag_bit(std::string_view two_letters);

struct Mapping {
  uint64_t start_address = 0;
  uint64_t end_address = 0;
  Permissions permissions;
  uint64_t offset_bytes = 0;
  // As printed. On btrfs and overlayfs this is not what stat() says, so it
  // tells objects apart within one process and no further.
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode_id = 0;
  std::string name;  // as the kernel escapes it: a newline is \012

  // From smaps; empty after reading maps.
  SmapsFields fields;
  bool is_thp_eligible = false;
  uint64_t vm_flags = 0;

  uint64_t size_bytes() const { return end_address - start_address; }
  bool is_file() const { return inode_id != 0; }
  // A reservation nobody can touch: guards, arena tails, sanitizer shadows.
  bool is_inaccessible() const {
    return !permissions.read && !permissions.write && !permissions.execute;
  }
  bool operator==(const Mapping&) const = default;
};

// How much address space the ELF file behind a mapping takes when loaded.
struct ImageSpan {
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode_id = 0;
  uint64_t span_bytes = 0;
  bool operator==(const ImageSpan&) const = default;
};

// A thread and where its stack pointer was. Empty while it runs on a CPU: the
// kernel tells the pointer only of threads that sleep.
struct Thread {
  int32_t thread_id = 0;
  std::string comm;
  char state = '?';
  std::optional<uint64_t> stack_pointer_address;
  bool operator==(const Thread&) const = default;
};

}  // namespace tidemark::model
