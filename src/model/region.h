// Groups the mappings of one process as people think of them, and says what
// kind of memory each is: one ELF image with its bss, a thread's stack with
// its guard, a malloc arena with its reserve. This is the classifier behind
// every per-category number, so it is pure and knows no file system: what it
// cannot see in the mappings comes in through RegionHints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/category.h"
#include "model/mapping.h"

namespace tidemark::model {

enum class RegionKind : uint8_t {
  Image,            // an ELF file: text, rodata, data, bss
  BrkHeap,          // [heap]
  Arena,            // a glibc malloc arena and its reserve
  NamedHeap,        // anonymous memory an allocator has named
  MainStack,        // [stack]
  ThreadStack,      // holds a thread's stack pointer; guard included
  Anonymous,        // private anonymous, readable or writable
  NamedAnonymous,   // private anonymous with a name
  Jit,              // private anonymous and executable
  Reservation,      // private anonymous nobody may touch
  MemFd,            // memfd_create
  SharedAnonymous,  // MAP_SHARED|MAP_ANONYMOUS
  SysV,             // shmget
  TmpFile,          // a file on tmpfs or ramfs
  File,             // any other file
  Device,           // /dev/…
  HugeTlb,          // hugetlb pages
  Vdso,             // [vdso], [vvar], [vsyscall]
  Rollup,           // a whole process in one: only its totals are known
};
std::string_view region_kind_token(RegionKind kind);
std::optional<RegionKind> region_kind_from_token(std::string_view token);
Category region_category(RegionKind kind);

// Totals of a process whose mappings nobody wrote down (smaps_rollup and what
// is made of it), as one mapping, so that everything after it needs no other
// road. It stands for no addresses: one page at zero, because a mapping of no
// size is one that has ended.
inline constexpr std::string_view kRollupName = "[rollup]";
Mapping rollup_mapping(const SmapsFields& totals);

struct DeviceNumber {
  uint32_t major = 0;
  uint32_t minor = 0;
  bool operator==(const DeviceNumber&) const = default;
};

struct RegionHints {
  int32_t pid = 0;  // its thread of the same number is in [stack]
  std::vector<Thread> threads;
  std::vector<DeviceNumber> memory_devices;  // of tmpfs and ramfs mounts
  std::vector<ImageSpan> images;  // of files whose program headers were read
};

// How the object behind a mapping is called: its name, or words for what has
// none.
std::string_view object_name(RegionKind kind, std::string_view name);

// A run of neighbouring mappings, by index into the vector it was made from.
struct Region {
  RegionKind kind = RegionKind::Anonymous;
  size_t first_index = 0;
  size_t mapping_count = 1;
  std::string name;
  int32_t thread_id = 0;  // of a thread stack; 0 when told by shape alone
  bool operator==(const Region&) const = default;
};

// The regions cover every mapping exactly once, in order of address. The
// mappings must be sorted, as the kernel prints them.
std::vector<Region> find_regions(const std::vector<Mapping>& mappings,
                                 const RegionHints& hints);

}  // namespace tidemark::model
