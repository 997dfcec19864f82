#include "source/frame_walk.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "base/page_size.h"
#include "model/mapping.h"
#include "parse/smaps.h"
#include "source/page_scan.h"

namespace tidemark::source {
namespace {

// More than this and the kernel tells a wrong end of the walk.
constexpr size_t kRegions = 512;
constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kFrameMask = (uint64_t{1} << 55) - 1;
// A hole of so many pages is cheaper to read than another call.
constexpr uint64_t kNearPages = 64;
constexpr uint64_t kMostEntries = uint64_t{1} << 15;
constexpr uint64_t kKernelHalf = uint64_t{1} << 63;

}  // namespace

base::Status FrameWalk::find_present(int pagemap) {
  std::array<PageRegion, kRegions> regions;
  uint64_t start = 0;
  // The kernel stops at the end of the address space by itself.
  constexpr uint64_t kEnd = uint64_t{1} << 47;
  const uint64_t end = kEnd - base::page_bytes();
  while (start < end) {
    PagemapScan scan;
    scan.start = start;
    scan.end = end;
    scan.vec = reinterpret_cast<uint64_t>(regions.data());
    scan.vec_len = regions.size();
    scan.category_mask = kPageIsPresent | kPageIsZero;
    scan.category_inverted = kPageIsZero;
    scan.return_mask = kPageIsPresent;
    const int got = ::ioctl(pagemap, kPagemapScan, &scan);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == ENOTTY) {
      return base::fail(base::ErrorKind::Unsupported, "no ioctl PAGEMAP_SCAN");
    }
    if (got < 0) return base::fail_errno("ioctl PAGEMAP_SCAN", errno);
    for (size_t i = 0; i < static_cast<size_t>(got); ++i) {
      const Pages pages = {regions[i].start / base::page_bytes(),
                           regions[i].end / base::page_bytes()};
      if (!present_.empty() &&
          pages.first - present_.back().last <= kNearPages) {
        present_.back().last = pages.last;
      } else {
        present_.push_back(pages);
      }
    }
    if (scan.walk_end <= start) break;
    start = scan.walk_end;
  }
  return base::Ok{};
}

// Before 6.7: all that is mapped, present or not.
base::Status FrameWalk::find_mapped(const base::Directory& process) {
  base::Status status = base::read_file_at(process, "maps", maps_);
  if (!status) return status;
  base::Result<std::vector<model::Mapping>> mappings = parse::parse_maps(maps_);
  if (!mappings) return mappings.error();
  for (const model::Mapping& mapping : *mappings) {
    if (mapping.start_address >= kKernelHalf) continue;
    present_.push_back({mapping.start_address / base::page_bytes(),
                        mapping.end_address / base::page_bytes()});
  }
  return base::Ok{};
}

base::Status FrameWalk::read_frames(int pagemap, uint64_t first_page,
                                    uint64_t last_page, const Visitor& visit) {
  while (first_page < last_page) {
    const uint64_t count = std::min(last_page - first_page, kMostEntries);
    entries_.resize(count);
    const ssize_t got =
        ::pread(pagemap, entries_.data(), count * sizeof(uint64_t),
                static_cast<off_t>(first_page * sizeof(uint64_t)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_errno("pagemap", errno);
    if (got == 0) return base::Ok{};
    entries_.resize(static_cast<size_t>(got) / sizeof(uint64_t));
    first_page += entries_.size();
    size_t kept = 0;
    for (uint64_t entry : entries_) {
      if ((entry & kPresent) == 0) continue;
      const uint64_t frame = entry & kFrameMask;
      if (frame == 0) {
        return base::fail(base::ErrorKind::Denied,
                          "the kernel hides the frames of pages",
                          "it needs CAP_SYS_ADMIN");
      }
      entries_[kept++] = frame;
    }
    if (kept > 0) visit(std::span(entries_).first(kept));
  }
  return base::Ok{};
}

base::Status FrameWalk::walk(const base::Directory& process,
                             const Visitor& visit) {
  base::Result<base::Fd> pagemap = base::open_file_at(process, "pagemap");
  if (!pagemap) return pagemap.error();
  present_.clear();
  base::Status status = base::Ok{};
  if (has_scan_) status = find_present(pagemap->get());
  if (!status && status.error().kind == base::ErrorKind::Unsupported) {
    has_scan_ = false;
  }
  if (!has_scan_) {
    present_.clear();
    status = find_mapped(process);
  }
  for (const Pages& pages : present_) {
    if (!status) return status;
    status = read_frames(pagemap->get(), pages.first, pages.last, visit);
  }
  return status;
}

}  // namespace tidemark::source
