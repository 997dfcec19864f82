// Which pages some processes map, and who else does: shares to the page.
#pragma once

#include <cstdint>
#include <vector>

namespace tidemark::model {

// Pages with the same mappers.
struct SharedPages {
  struct Mapper {
    uint32_t process = 0;  // its place in the sample
    uint32_t times = 0;
    bool operator==(const Mapper&) const = default;
  };
  std::vector<Mapper> mappers;  // those in the sample
  uint64_t map_count = 0;       // by all, as the kernel counts
  uint64_t anon_pages = 0;
  uint64_t file_pages = 0;
  uint64_t shmem_pages = 0;
  uint64_t page_count() const { return anon_pages + file_pages + shmem_pages; }
  bool operator==(const SharedPages&) const = default;
};

struct PageSharing {
  uint64_t page_bytes = 4096;
  std::vector<SharedPages> sets;
  // Processes whose pages could not be told; parallel to the sample.
  std::vector<bool> is_unknown;
};

}  // namespace tidemark::model
