#include "source/page_scan.h"

#include <array>
#include <cerrno>

namespace tidemark::source {
namespace {

constexpr size_t kRegions = 512;

base::Result<uint64_t> scan_range(int pagemap, uint64_t start, uint64_t end) {
  std::array<PageRegion, kRegions> regions;
  uint64_t sum = 0;
  while (start < end) {
    PagemapScan scan;
    scan.start = start;
    scan.end = end;
    scan.vec = reinterpret_cast<uint64_t>(regions.data());
    scan.vec_len = regions.size();
    scan.category_mask = kPageIsPresent | kPageIsZero;
    scan.category_inverted = kPageIsZero;
    scan.return_mask = kPageIsPresent;
    const int count = ::ioctl(pagemap, kPagemapScan, &scan);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == ENOTTY) {
      return base::fail(base::ErrorKind::Unsupported, "no ioctl PAGEMAP_SCAN");
    }
    if (count < 0) return base::fail_errno("ioctl PAGEMAP_SCAN", errno);
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      sum += regions[i].end - regions[i].start;
    }
    if (scan.walk_end <= start) break;
    start = scan.walk_end;
  }
  return sum;
}

}  // namespace

base::Result<std::vector<uint64_t>> scan_resident(
    const base::Directory& process,
    const std::vector<model::Mapping>& mappings) {
  base::Result<base::Fd> pagemap = base::open_file_at(process, "pagemap");
  if (!pagemap) return pagemap.error();
  std::vector<uint64_t> resident;
  resident.reserve(mappings.size());
  constexpr uint64_t kKernelHalf = uint64_t{1} << 63;
  for (const model::Mapping& mapping : mappings) {
    if (mapping.start_address >= kKernelHalf || mapping.is_inaccessible()) {
      resident.push_back(0);
      continue;
    }
    base::Result<uint64_t> bytes =
        scan_range(pagemap->get(), mapping.start_address, mapping.end_address);
    if (!bytes) return bytes.error();
    resident.push_back(*bytes);
  }
  return resident;
}

}  // namespace tidemark::source
