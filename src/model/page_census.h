// All pages of RAM, as they stream past: never the whole machine at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tidemark::model {

// Bits of /proc/kpageflags, kernel ABI.
inline constexpr uint64_t kPageLocked = uint64_t{1} << 0;
inline constexpr uint64_t kPageUptodate = uint64_t{1} << 3;
inline constexpr uint64_t kPageLru = uint64_t{1} << 5;
inline constexpr uint64_t kPageSlab = uint64_t{1} << 7;
inline constexpr uint64_t kPageBuddy = uint64_t{1} << 10;
inline constexpr uint64_t kPageMapped = uint64_t{1} << 11;
inline constexpr uint64_t kPageAnon = uint64_t{1} << 12;
inline constexpr uint64_t kPageSwapCache = uint64_t{1} << 13;
inline constexpr uint64_t kPageSwapBacked = uint64_t{1} << 14;
inline constexpr uint64_t kPageHugetlb = uint64_t{1} << 17;
inline constexpr uint64_t kPagePoisoned = uint64_t{1} << 19;
inline constexpr uint64_t kPageAbsent =
    uint64_t{1} << 20;  // no struct: a hole in the memory
inline constexpr uint64_t kPageOffline = uint64_t{1} << 23;
inline constexpr uint64_t kPageZero = uint64_t{1} << 24;
inline constexpr uint64_t kPageTable = uint64_t{1} << 26;
inline constexpr uint64_t kPageReserved = uint64_t{1} << 32;

enum class PageType : uint8_t {
  None,
  Offline,
  Table,
  Zsmalloc,
  LargeKmalloc,
};

// What the page's struct says; only where BPF may look.
struct PageStruct {
  // The file's address space, or the slab's cache: an address that stands for
  // a name. 0 for neither. Meaningless for anonymous pages.
  uint64_t owner = 0;
  uint32_t reference_count =
      0;  // of the whole, when it is part of a larger one
  PageType type = PageType::None;
  bool is_known = false;
};

// Pages with successive frame numbers.
struct PageChunk {
  uint64_t first_frame = 0;
  std::span<const uint64_t> flags;   // kPage…
  std::span<const uint64_t> counts;  // how often each is mapped
  // Inode of the group each is charged to, 0 for none; empty: not known.
  std::span<const uint64_t> groups;
  std::span<const PageStruct> structs;  // empty: not known
};

// What has to be asked about a page beside its flags before one knows what it
// is: each is a call of its own.
struct PageNeeds {
  bool count = false;
  bool group = false;
};

// Frames [first, last) of System RAM.
struct FrameRange {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t count() const { return last - first; }
  bool operator==(const FrameRange&) const = default;
};

// A file as the kernel itself knows it, whoever has it open.
struct CachedFile {
  uint64_t address = 0;  // PageStruct::owner
  uint64_t inode_id = 0;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t link_count = 0;
  uint64_t size_bytes = 0;
  std::string path;       // from the root of its file system; "" when nameless
  bool is_whole = false;  // the path reaches that root
};

struct SlabCacheName {
  uint64_t address = 0;
  std::string name;
};

struct KernelStack {
  int32_t pid = 0;
  int32_t thread = 0;
  std::string comm;
  std::vector<uint64_t> frames;
};

}  // namespace tidemark::model
