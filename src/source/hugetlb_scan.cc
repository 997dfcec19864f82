#include "source/hugetlb_scan.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/fd.h"
#include "base/page_size.h"
#include "source/procmap_query.h"

namespace tidemark::source {
namespace {

// Bits of an entry of pagemap.
constexpr uint64_t kIsPresent = uint64_t{1} << 63;
constexpr uint64_t kIsExclusive = uint64_t{1} << 56;

// The smallest there is is 64 KiB, on arm64.
constexpr uint64_t kLeastHugeBytes = uint64_t{64} << 10;

// Every mapping of hugetlb has a file, if one without a name, and is made of
// whole huge pages.
bool can_be_hugetlb(const model::Mapping& mapping) {
  return mapping.inode_id != 0 &&
         mapping.start_address % kLeastHugeBytes == 0 &&
         mapping.size_bytes() % kLeastHugeBytes == 0;
}

class HugetlbScan {
 public:
  explicit HugetlbScan(const base::Directory& process) : process_(process) {}

  base::Result<std::optional<HugetlbCount>> count(
      const model::Mapping& mapping) {
    const uint64_t page_bytes = page_bytes_of(mapping);
    if (page_bytes <= small_bytes_) return std::optional<HugetlbCount>();
    base::Status status = open(pagemap_, "pagemap");
    if (!status) return status.error();
    HugetlbCount count;
    count.page_bytes = page_bytes;
    for (uint64_t at = mapping.start_address; at < mapping.end_address;
         at += page_bytes) {
      uint64_t entry = 0;
      const auto offset = static_cast<off_t>(at / small_bytes_ * sizeof(entry));
      if (::pread(pagemap_.get(), &entry, sizeof entry, offset) !=
          static_cast<ssize_t>(sizeof entry)) {
        break;  // unmapped meanwhile
      }
      if (!(entry & kIsPresent)) continue;
      (entry & kIsExclusive ? count.private_bytes : count.shared_bytes) +=
          page_bytes;
    }
    return std::optional(count);
  }

 private:
  base::Status open(base::Fd& fd, const char* name) {
    if (fd) return base::Ok{};
    base::Result<base::Fd> opened = base::open_file_at(process_, name);
    if (!opened) return opened.error();
    fd = std::move(*opened);
    return base::Ok{};
  }

  // 0 for what is certainly none.
  uint64_t page_bytes_of(const model::Mapping& mapping) {
    if (!can_be_hugetlb(mapping) || !open(maps_, "maps")) return 0;
    ProcmapQuery query;
    query.query_addr = mapping.start_address;
    if (::ioctl(maps_.get(), kProcmapQuery, &query) == 0) {
      return query.vma_page_size;
    }
    constexpr uint64_t kUsualHugeBytes = uint64_t{2} << 20;
    const bool is_named = mapping.name.starts_with("/anon_hugepage");
    return errno == ENOTTY && is_named ? kUsualHugeBytes : 0;
  }

  const base::Directory& process_;
  base::Fd maps_;
  base::Fd pagemap_;
  uint64_t small_bytes_ = base::page_bytes();
};

}  // namespace

base::Result<std::vector<std::optional<HugetlbCount>>> scan_hugetlb(
    const base::Directory& process,
    const std::vector<model::Mapping>& mappings) {
  HugetlbScan scan(process);
  std::vector<std::optional<HugetlbCount>> counts;
  counts.reserve(mappings.size());
  for (const model::Mapping& mapping : mappings) {
    base::Result<std::optional<HugetlbCount>> count = scan.count(mapping);
    if (!count) return count.error();
    counts.push_back(*count);
  }
  return counts;
}

}  // namespace tidemark::source
