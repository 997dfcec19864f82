#include "analysis/maps_report.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

namespace tidemark::analysis {
namespace {

using model::Mapping;
using model::Region;
using model::RegionKind;

// Indexed by RegionKind.
constexpr std::array<std::string_view, 18> kExplanations = {{
    "a program or library: r-x is its code, r-- its constants, rw- its data, "
    "and nameless rw- right behind, as far as its headers say, is its bss "
    "(data "
    "that starts as zero)",
    "the heap that brk() grows: small malloc blocks of the main thread",
    "a malloc arena of glibc for threads: the rw- part is in use or was, the "
    "--- part is address space kept for it, without memory behind it",
    "heap that its allocator has named",
    "the stack of the main thread; the kernel grows it downwards on demand",
    "a thread's stack, its guard page (---) below it: much address space, "
    "little of it touched",
    "private anonymous memory: large malloc blocks, mmap, or a language "
    "runtime's own heap",
    "private anonymous memory that the program has named with prctl",
    "anonymous and executable: code that was generated at run time",
    "address space kept free: it cannot be touched and has no memory behind "
    "it",
    "a memfd: shared memory without a path, passed on by descriptor",
    "shared anonymous memory: stays shared with children across fork",
    "a System V segment (shmget); lives on after its processes unless removed",
    "a file on tmpfs: its pages are memory, not disk, and count as shared "
    "memory",
    "a mapped file: its pages are page cache and can be dropped and read "
    "again, unless written privately",
    "a device's memory or buffers, mapped by its driver",
    "huge pages from the hugetlb pool: in neither Rss nor Pss of the kernel, "
    "added here",
    "pages the kernel lends to every process for fast system calls",
}};

uint64_t sort_key(const MapsRegion& region, MapsSort sort) {
  switch (sort) {
    case MapsSort::Size:
      return region.sum.size_bytes;
    case MapsSort::Rss:
      return region.sum.rss_bytes;
    case MapsSort::Pss:
      return region.sum.pss_bytes;
    case MapsSort::Private:
      return region.sum.private_bytes;
    case MapsSort::Swap:
      return region.sum.swap_pss_bytes;
    case MapsSort::Address:
      break;
  }
  return 0;
}

MapsRegion describe(const std::vector<Mapping>& mappings,
                    const Region& region) {
  MapsRegion row;
  row.kind = region.kind;
  row.category = model::region_category(region.kind);
  row.name = region.name;
  row.thread_id = region.thread_id;
  const auto first =
      mappings.begin() + static_cast<ptrdiff_t>(region.first_index);
  row.mappings.assign(first,
                      first + static_cast<ptrdiff_t>(region.mapping_count));
  row.start_address = row.mappings.front().start_address;
  row.end_address = row.mappings.back().end_address;
  Region whole = region;
  whole.first_index = 0;
  row.sum = categories_of(row.mappings, {whole})[0];
  row.explanation = explain_region(row);
  return row;
}

}  // namespace

std::string explain_region(const MapsRegion& region) {
  std::string text(kExplanations[static_cast<size_t>(region.kind)]);
  if (region.kind == RegionKind::ThreadStack && region.thread_id == 0) {
    text += " (told by its shape: no stack pointer was seen in it)";
  }
  return text;
}

MapsReport make_maps_report(const model::Sample& sample,
                            const model::Process& process,
                            const model::RegionHints& hints, MapsSort sort) {
  const std::vector<Mapping>& mappings = *process.mappings;
  MapsReport report;
  report.realtime_ns = sample.started_realtime_ns;
  report.read_ns = sample.ended_monotonic_ns - sample.started_monotonic_ns;
  report.process = process.id;
  report.name = display_name(process);
  report.command = command_text(process);
  report.status_rss_bytes = process.status.rss_bytes;
  report.peak_rss_bytes = process.status.peak_rss_bytes;
  report.page_table_bytes = process.status.page_table_bytes;
  report.thread_count = hints.threads.size();
  for (const model::Thread& thread : hints.threads) {
    if (!thread.stack_pointer_address) ++report.unlocated_thread_count;
  }
  const std::vector<Region> regions = model::find_regions(mappings, hints);
  for (const Region& region : regions) {
    report.regions.push_back(describe(mappings, region));
    report.total.add(report.regions.back().sum);
  }
  report.categories = categories_of(mappings, regions);
  if (!mappings.empty()) {
    report.start_address = mappings.front().start_address;
    // [vsyscall] lies in the kernel's half and would make the span meaningless.
    constexpr uint64_t kKernelHalf = uint64_t{1} << 63;
    for (const Mapping& mapping : mappings) {
      if (mapping.start_address < kKernelHalf) {
        report.end_address = mapping.end_address;
      }
    }
  }
  if (sort != MapsSort::Address) {
    std::ranges::stable_sort(
        report.regions, std::greater<>(),
        [&](const MapsRegion& region) { return sort_key(region, sort); });
  }
  return report;
}

}  // namespace tidemark::analysis
