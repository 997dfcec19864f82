#include "source/bpf/trace_tables.h"

#include <algorithm>
#include <bit>

#include "source/kernel_files.h"

namespace tidemark::source {
namespace {

constexpr uint64_t kFramesPerSection = uint64_t{1} << TM_SECTION_SHIFT;

TableSizes sizes_of(uint64_t nodes) {
  TableSizes sizes;
  sizes.nodes = static_cast<uint32_t>(nodes);
  sizes.stacks =
      static_cast<uint32_t>(std::clamp<uint64_t>(nodes / 4, 1024, 65536));
  sizes.tasks =
      static_cast<uint32_t>(std::clamp<uint64_t>(nodes / 8, 512, 65536));
  return sizes;
}

uint64_t bytes_of(const TableSizes& sizes) {
  return sizes.nodes * sizeof(tm_trace_node) +
         sizes.stacks * sizeof(tm_trace_stack) +
         sizes.tasks * sizeof(tm_trace_task);
}

}  // namespace

TableSizes sizes_for(uint64_t ram_pages,
                     std::optional<uint64_t> available_bytes) {
  constexpr uint64_t kPagesPerNode = 64;
  constexpr uint64_t kFewestNodes = 4096;
  constexpr uint64_t kPart = 32;
  // A boot has some 2,600 pairs of stack and task.
  uint64_t nodes = std::clamp<uint64_t>(
      std::bit_ceil(ram_pages / kPagesPerNode), 4 * kFewestNodes, 1U << 20);
  while (available_bytes && nodes > kFewestNodes &&
         bytes_of(sizes_of(nodes)) > *available_bytes / kPart) {
    nodes /= 2;
  }
  return sizes_of(nodes);
}

base::Result<Sections> find_sections(const Roots& roots, uint64_t page_size) {
  const model::Reading<model::IoMemory> iomem = read_iomem(roots);
  if (!iomem || iomem->addresses == model::AddressForm::Hidden) {
    return base::fail(
        base::ErrorKind::Denied,
        "where RAM is cannot be told: " + roots.proc.join("iomem") + ": " +
            (iomem ? "addresses read as 0" : iomem.unknown_because),
        "run as root, or grant CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN");
  }
  Sections sections;
  for (const model::IoResource& resource : iomem->resources) {
    if (!model::is_system_ram(resource)) continue;
    const uint64_t first = resource.first / page_size;
    const uint64_t last = resource.last / page_size;
    sections.ram_pages += last - first + 1;
    const uint64_t last_section = last / kFramesPerSection;
    if (sections.first_chunk.size() <= last_section) {
      sections.first_chunk.resize(last_section + 1);
    }
    for (uint64_t i = first / kFramesPerSection; i <= last_section; ++i) {
      if (sections.first_chunk[i] != 0) continue;
      sections.first_chunk[i] = sections.chunk_count + 1;
      sections.chunk_count += TM_CHUNKS_PER_SECTION;
    }
  }
  return sections;
}

}  // namespace tidemark::source
