#include "source/page_scan.h"

#include <array>
#include <cerrno>

#include "source/reader_pause.h"

namespace tidemark::source {
namespace {

constexpr size_t kRegions = 512;

void count(const PageRegion& region, PageCount& sum) {
  const uint64_t bytes = region.end - region.start;
  if (region.categories & kPageIsSwapped) {
    sum.swapped_bytes += bytes;
    return;
  }
  sum.resident_bytes += bytes;
  if (!(region.categories & kPageIsFile)) sum.anonymous_bytes += bytes;
}

base::Result<PageCount> scan_range(int pagemap, uint64_t start, uint64_t end,
                                   uint64_t most_pages, ReaderPause& pause) {
  std::array<PageRegion, kRegions> regions;
  PageCount sum;
  while (start < end) {
    PagemapScan scan;
    scan.start = start;
    scan.end = end;
    scan.vec = reinterpret_cast<uint64_t>(regions.data());
    scan.vec_len = regions.size();
    scan.max_pages = most_pages;
    scan.category_mask = kPageIsZero;
    scan.category_inverted = kPageIsZero;
    scan.category_anyof_mask = kPageIsPresent | kPageIsSwapped;
    scan.return_mask = kPageIsPresent | kPageIsSwapped | kPageIsFile;
    const int got = ::ioctl(pagemap, kPagemapScan, &scan);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == ENOTTY) {
      return base::fail(base::ErrorKind::Unsupported, "no ioctl PAGEMAP_SCAN");
    }
    if (got < 0) return base::fail_errno("ioctl PAGEMAP_SCAN", errno);
    for (size_t i = 0; i < static_cast<size_t>(got); ++i)
      count(regions[i], sum);
    if (scan.walk_end <= start) break;
    start = scan.walk_end;
    if (most_pages > 0) pause.after_call();
  }
  return sum;
}

}  // namespace

bool can_scan_pages(const base::Directory& proc) {
  base::Result<base::Fd> pagemap = base::open_file_at(proc, "self/pagemap");
  if (!pagemap) return false;
  // A page that nobody has: there is nothing to find.
  constexpr uint64_t kPage = uint64_t{1} << 16;
  PagemapScan scan;
  scan.end = kPage;
  scan.category_anyof_mask = kPageIsPresent;
  scan.return_mask = kPageIsPresent;
  std::array<PageRegion, 1> regions;
  scan.vec = reinterpret_cast<uint64_t>(regions.data());
  scan.vec_len = regions.size();
  return ::ioctl(pagemap->get(), kPagemapScan, &scan) >= 0;
}

base::Result<std::vector<PageCount>> scan_pages(
    const base::Directory& process, const std::vector<model::Mapping>& mappings,
    uint64_t most_pages_per_call) {
  base::Result<base::Fd> pagemap = base::open_file_at(process, "pagemap");
  if (!pagemap) return pagemap.error();
  std::vector<PageCount> counts;
  ReaderPause pause;
  counts.reserve(mappings.size());
  constexpr uint64_t kKernelHalf = uint64_t{1} << 63;
  for (const model::Mapping& mapping : mappings) {
    if (mapping.start_address >= kKernelHalf) {
      counts.push_back({});
      continue;
    }
    base::Result<PageCount> pages =
        scan_range(pagemap->get(), mapping.start_address, mapping.end_address,
                   most_pages_per_call, pause);
    if (!pages) return pages.error();
    counts.push_back(*pages);
  }
  return counts;
}

}  // namespace tidemark::source
