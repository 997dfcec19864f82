// The kernel's own address space: its regions, who asked for the areas in them,
// and the physical map below. A base that the kernel hides or that it drew at
// boot is unknown, and never guessed from the architecture's usual layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernel_layout.h"
#include "model/kernel_memory.h"
#include "model/machine.h"
#include "model/reading.h"

namespace tidemark::analysis {

struct KmapInput {
  uint64_t realtime_ns = 0;
  uint64_t read_ns = 0;
  model::MemInfo meminfo;
  uint64_t page_size_bytes = 4096;
  model::Reading<model::KernelSpace> space;
  model::Reading<std::vector<model::KernelSegment>> segments;
  model::Reading<model::PageCounters> counters;
  model::Reading<model::IoMemory> iomem;
  model::Reading<model::VmallocInfo> vmalloc;
  model::Reading<std::vector<model::KernelModule>> modules;
  model::Reading<model::KernelSymbols> symbols;
};

// Areas of one kind that one function asked for.
struct KmapGroup {
  std::string caller;  // "load_module [xfs]"; empty when not recorded
  model::VmallocKind kind = model::VmallocKind::Other;
  uint64_t count = 0;
  uint64_t size_bytes = 0;  // addresses
  // RAM the areas own, where they own any: pages of a vmap are somebody's.
  std::optional<uint64_t> memory_bytes;
  bool operator==(const KmapGroup&) const = default;
};

// A part of a region that has a place of its own: a section, a module.
struct KmapPart {
  std::string name;
  std::optional<AddressRange> range;
  uint64_t size_bytes = 0;
  bool operator==(const KmapPart&) const = default;
};

struct KmapRegion {
  std::string_view token;  // "direct_map"
  std::string_view name;
  std::optional<AddressRange> range;
  std::string range_unknown_because;
  model::Reading<uint64_t> size_bytes;    // addresses set aside
  model::Reading<uint64_t> memory_bytes;  // RAM behind them
  // The direct map shows RAM that others use; it holds none by itself.
  bool is_view = false;
  std::vector<KmapPart> parts;
};

struct KmapReport {
  uint64_t realtime_ns = 0;
  uint64_t read_ns = 0;
  std::vector<KmapRegion> regions;
  std::vector<KmapGroup> groups;  // of vmalloc, the most memory first
  std::vector<model::VmallocArea> areas;
  uint64_t page_size_bytes = 4096;  // of the pages in them
  model::AddressForm area_addresses = model::AddressForm::Hidden;
  // VmallocUsed less the pages of all areas: what was made or freed between
  // the readings of two files.
  std::optional<int64_t> vmalloc_residue_bytes;
  model::Reading<model::IoMemory> physical;
  std::optional<uint64_t> ram_bytes;
  std::vector<std::string> notes;  // what is hidden, and what would show it
};

std::string_view vmalloc_kind_token(model::VmallocKind kind);

KmapReport make_kmap_report(KmapInput input);

}  // namespace tidemark::analysis
