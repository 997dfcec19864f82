#include "analysis/kernel_layout.h"

#include <algorithm>
#include <map>

namespace tidemark::analysis {
namespace {

using model::KernelSegment;

// With debugging built in a struct is longer than the usual 64 bytes.
constexpr uint64_t kStructBytes[] = {64, 56, 72, 80, 96, 128};

uint64_t end_of(const KernelSegment& segment) {
  return segment.start + segment.size_bytes;
}

void widen(std::optional<AddressRange>& range, const KernelSegment& segment) {
  if (!range) range = AddressRange{segment.start, end_of(segment)};
  range->start = std::min(range->start, segment.start);
  range->end = std::max(range->end, end_of(segment));
}

// The distance from their place that most bytes of RAM lie at; the image lies
// at another. Empty where none has a place.
std::optional<uint64_t> direct_map_base(
    const std::vector<KernelSegment>& segments) {
  std::map<uint64_t, uint64_t> bytes;
  for (const KernelSegment& one : segments) {
    if (one.physical && *one.physical <= one.start) {
      bytes[one.start - *one.physical] += one.size_bytes;
    }
  }
  const auto most = std::ranges::max_element(
      bytes, {}, [](const auto& entry) { return entry.second; });
  if (most == bytes.end()) return std::nullopt;
  return most->first;
}

bool are_structs_of(const KernelSegment& structs, const KernelSegment& ram,
                    uint64_t page_bytes) {
  return std::ranges::any_of(kStructBytes, [&](uint64_t each) {
    const uint64_t wanted = ram.size_bytes / page_bytes * each;
    // Rounded to whole pages at both ends.
    return structs.size_bytes + 1 >= wanted &&
           structs.size_bytes <= wanted + 2 * page_bytes;
  });
}

}  // namespace

KernelLayout find_layout(const std::vector<KernelSegment>& segments,
                         const std::optional<uint64_t>& vmalloc_total_bytes,
                         uint64_t page_bytes) {
  KernelLayout layout;
  const std::optional<uint64_t> base = direct_map_base(segments);
  if (!base) return layout;
  std::vector<KernelSegment> ram;
  for (const KernelSegment& one : segments) {
    if (!one.physical || one.start - *one.physical != *base) continue;
    ram.push_back(one);
    widen(layout.direct_map, one);
  }
  layout.direct_map->start = *base;
  for (const KernelSegment& one : segments) {
    if (one.physical) continue;
    // meminfo tells KiB.
    const bool is_vmalloc = vmalloc_total_bytes &&
                            one.size_bytes + 1024 >= *vmalloc_total_bytes &&
                            one.size_bytes <= *vmalloc_total_bytes + 1024;
    if (is_vmalloc) {
      widen(layout.vmalloc, one);
    } else if (std::ranges::any_of(ram, [&](const KernelSegment& piece) {
                 return are_structs_of(one, piece, page_bytes);
               })) {
      widen(layout.page_structs, one);
      layout.page_struct_bytes += one.size_bytes;
    }
  }
  return layout;
}

}  // namespace tidemark::analysis
