// Counts the resident pages of address ranges with the ioctl PAGEMAP_SCAN
// (Linux 6.7). It tells presence and nothing of sharing, but takes a ninth of
// the time of smaps: 8 ms against 75 ms for 4 GiB of small pages.
//
// The ioctl is newer than the headers of Debian 12, so its layout is repeated
// here; it is kernel ABI and never changes.
#pragma once

#include <sys/ioctl.h>

#include <cstdint>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "model/mapping.h"

namespace tidemark::source {

// struct page_region and struct pm_scan_arg of linux/fs.h.
struct PageRegion {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t categories = 0;
};
struct PagemapScan {
  uint64_t size = sizeof(PagemapScan);
  uint64_t flags = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t walk_end = 0;
  uint64_t vec = 0;
  uint64_t vec_len = 0;
  uint64_t max_pages = 0;
  uint64_t category_inverted = 0;
  uint64_t category_mask = 0;
  uint64_t category_anyof_mask = 0;
  uint64_t return_mask = 0;
};
constexpr uint64_t kPageIsFile = 1 << 2;  // file or shmem
constexpr uint64_t kPageIsPresent = 1 << 3;
constexpr uint64_t kPageIsSwapped = 1 << 4;
constexpr uint64_t kPageIsZero = 1 << 5;  // the shared page of zeros: not RSS
constexpr auto kPagemapScan = _IOWR('f', 16, PagemapScan);

// Whether the kernel of this proc tree has the ioctl; a copied tree has not.
bool can_scan_pages(const base::Directory& proc);

struct PageCount {
  uint64_t resident_bytes = 0;
  uint64_t anonymous_bytes = 0;  // of the resident
  uint64_t swapped_bytes = 0;
  bool operator==(const PageCount&) const = default;
};

// The pages of each mapping, in their order. Unsupported before 6.7. The
// process's own mmap calls wait while a call runs, so a call that may count
// only so many pages (0: any number) keeps that wait short whatever the size;
// 512 measured 21 us where one call for 256 MiB took 7 ms.
base::Result<std::vector<PageCount>> scan_pages(
    const base::Directory& process, const std::vector<model::Mapping>& mappings,
    uint64_t most_pages_per_call);

}  // namespace tidemark::source
