// Which of the kernel's segments is which region. /proc/kcore lists addresses
// and no names; what tells them apart is what else is known: RAM has a place
// and lies at one distance from it, vmalloc is as long as meminfo says, the
// structs of a piece of RAM are a fixed part of its length.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/kernel_memory.h"

namespace tidemark::analysis {

struct AddressRange {
  uint64_t start = 0;
  uint64_t end = 0;  // exclusive
  bool operator==(const AddressRange&) const = default;
};

struct KernelLayout {
  // Where physical address 0 would be, and the last byte of RAM.
  std::optional<AddressRange> direct_map;
  std::optional<AddressRange> vmalloc;
  std::optional<AddressRange> page_structs;  // from the first used to the last
  uint64_t page_struct_bytes = 0;            // of addresses in it
};

KernelLayout find_layout(const std::vector<model::KernelSegment>& segments,
                         const std::optional<uint64_t>& vmalloc_total_bytes,
                         uint64_t page_bytes);

}  // namespace tidemark::analysis
