// The ioctl PROCMAP_QUERY on /proc/PID/maps (Linux 6.11): one mapping in one
// call. It is newer than the headers of Debian 12, so its layout is repeated
// here; it is kernel ABI and only grows.
#pragma once

#include <sys/ioctl.h>

#include <cstdint>

namespace tidemark::source {

// struct procmap_query of linux/fs.h.
struct ProcmapQuery {
  uint64_t size = sizeof(ProcmapQuery);
  uint64_t query_flags = 0;
  uint64_t query_addr = 0;
  uint64_t vma_start = 0;
  uint64_t vma_end = 0;
  uint64_t vma_flags = 0;
  uint64_t vma_page_size = 0;
  uint64_t vma_offset = 0;
  uint64_t inode = 0;
  uint32_t dev_major = 0;
  uint32_t dev_minor = 0;
  uint32_t vma_name_size = 0;
  uint32_t build_id_size = 0;
  uint64_t vma_name_addr = 0;
  uint64_t build_id_addr = 0;
};
constexpr auto kProcmapQuery = _IOWR('f', 17, ProcmapQuery);

}  // namespace tidemark::source
