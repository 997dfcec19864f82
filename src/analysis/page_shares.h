// Shares of memory to the page, out of which pages are mapped by whom: what the
// kernel's own sums leave out. A page that one process maps twice is private to
// it, and one that only processes of a group map is private to the group.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/process_use.h"
#include "model/page_sharing.h"

namespace tidemark::analysis {

struct PageShares {
  uint64_t rss_bytes = 0;
  uint64_t pss_bytes = 0;
  uint64_t pss_anon_bytes = 0;
  uint64_t pss_file_bytes = 0;
  uint64_t pss_shmem_bytes = 0;
  uint64_t private_bytes = 0;
  uint64_t shared_bytes() const { return rss_bytes - private_bytes; }
  bool operator==(const PageShares&) const = default;
};

// Of each process of the sample.
std::vector<PageShares> shares_of_each(const model::PageSharing& sharing,
                                       size_t process_count);
// Of some of them together: a page counts once however many of them map it.
PageShares shares_of(const model::PageSharing& sharing,
                     const std::vector<bool>& members);

// Puts them in the place of what smaps said.
void set_shares(const PageShares& shares, Use& use);

}  // namespace tidemark::analysis
