// What the kernel tells of its own memory: the physical map, the areas of its
// address space, its slab caches, sockets, modules and sections.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/reading.h"

namespace tidemark::model {

// What a file shows where it could show kernel addresses.
enum class AddressForm : uint8_t {
  Real,
  Hashed,  // %p: equal addresses look equal, and nothing else is to be learnt
  Hidden,  // all zero
};

// One line of /proc/iomem.
struct IoResource {
  uint64_t first = 0;
  uint64_t last = 0;   // inclusive, as the kernel writes it
  uint32_t depth = 0;  // how many resources it lies in
  std::string name;
  bool operator==(const IoResource&) const = default;
};

struct IoMemory {
  std::vector<IoResource> resources;  // in the order of the file: a tree
  AddressForm addresses = AddressForm::Real;  // never Hashed
  bool operator==(const IoMemory&) const = default;
};

// RAM, also what a driver brought later: "System RAM (kmem)".
bool is_system_ram(const IoResource& resource);
// RAM in whole pages, because the kernel leaves broken ones alone. Empty when
// the addresses are hidden or there is no such line.
std::optional<uint64_t> system_ram_bytes(const IoMemory& iomem,
                                         uint64_t page_size_bytes);

enum class VmallocKind : uint8_t {
  Vmalloc,      // pages of its own
  Vmap,         // pages of somebody else
  Ioremap,      // physical addresses, seldom RAM
  VmMapRam,     // short-lived vmap without a record of its caller
  DmaCoherent,  // pages of the DMA layer
  Sparse,       // filled page by page: BPF arenas
  Unpurged,     // freed; only its address range is not yet reusable
  Other,
};

// One line of /proc/vmallocinfo.
struct VmallocArea {
  std::optional<uint64_t> start;  // as the file shows it: see AddressForm
  std::optional<uint64_t> end;
  uint64_t size_bytes = 0;  // addresses, mostly with a guard page at the end
  std::string caller;  // "load_module+0x1/0x2 [xfs]"; empty when not recorded
  std::optional<uint64_t> pages;  // physical pages the area owns or maps
  std::optional<uint64_t> phys;   // where an ioremap leads to
  VmallocKind kind = VmallocKind::Other;
  bool is_user = false;     // may be mapped into processes
  bool has_vpages = false;  // its list of pages is itself vmalloc'ed
  bool operator==(const VmallocArea&) const = default;
};

struct VmallocInfo {
  std::vector<VmallocArea> areas;
  AddressForm addresses = AddressForm::Real;
  bool operator==(const VmallocInfo&) const = default;
};

// One line of /proc/slabinfo. SLUB counts every object of a slab that a
// processor holds as active, so what is active is an upper bound.
struct SlabCache {
  std::string name;
  uint64_t active_objects = 0;
  uint64_t objects = 0;
  uint64_t object_bytes = 0;
  uint64_t objects_per_slab = 0;
  uint64_t pages_per_slab = 0;
  uint64_t active_slabs = 0;
  uint64_t slabs = 0;
  bool operator==(const SlabCache&) const = default;
};

// /proc/net/sockstat and sockstat6. The pages are those of all network
// namespaces; the fragments only those of the reader's.
struct SocketMemory {
  std::optional<uint64_t> tcp_pages;
  std::optional<uint64_t> udp_pages;
  std::optional<uint64_t> fragment_bytes;  // of both protocols
  bool operator==(const SocketMemory&) const = default;
};

// One line of /proc/modules.
struct KernelModule {
  std::string name;
  uint64_t size_bytes = 0;
  std::optional<uint64_t> address;  // empty when the kernel hides it
  bool operator==(const KernelModule&) const = default;
};

// Where the parts of the kernel image lie, from /proc/kallsyms.
struct KernelSymbol {
  std::string name;  // "_text", "__bss_start", …
  uint64_t address = 0;
  bool operator==(const KernelSymbol&) const = default;
};

struct KernelSymbols {
  std::vector<KernelSymbol> sections;         // in the order of the file
  AddressForm addresses = AddressForm::Real;  // never Hashed
  bool operator==(const KernelSymbols&) const = default;
};
std::optional<uint64_t> find_symbol(const KernelSymbols& symbols,
                                    std::string_view name);

// Lines of /proc/vmstat that count pages in kinds meminfo does not tell.
struct PageCounters {
  std::optional<uint64_t> inactive_anon_pages;
  std::optional<uint64_t> active_anon_pages;
  std::optional<uint64_t> inactive_file_pages;
  std::optional<uint64_t> active_file_pages;
  std::optional<uint64_t> unevictable_pages;
  std::optional<uint64_t> isolated_anon_pages;
  std::optional<uint64_t> isolated_file_pages;
  std::optional<uint64_t> zsmalloc_pages;     // zram and zswap
  std::optional<uint64_t> balloon_pages;      // since 6.18
  std::optional<uint64_t> memmap_boot_pages;  // page structs, since 6.11
  std::optional<uint64_t> memmap_pages;       // those made later
  bool operator==(const PageCounters&) const = default;
};

// Lines of /proc/meminfo about the size of the kernel's address space.
struct KernelSpace {
  std::optional<uint64_t> vmalloc_total_bytes;
  std::optional<uint64_t> direct_map_bytes;  // DirectMap of all page sizes
  bool operator==(const KernelSpace&) const = default;
};

// A stretch of the kernel's addresses, as the headers of /proc/kcore list them.
struct KernelSegment {
  uint64_t start = 0;
  uint64_t size_bytes = 0;
  // Of RAM and of the image; the others have no one place.
  std::optional<uint64_t> physical;
  bool operator==(const KernelSegment&) const = default;
};

// All of it at one instant, each with its reason where it could not be read.
struct KernelReadings {
  Reading<PageCounters> counters;
  Reading<IoMemory> iomem;
  Reading<VmallocInfo> vmalloc;
  Reading<std::vector<SlabCache>> slab;
  Reading<SocketMemory> sockets;
};

}  // namespace tidemark::model
