#include "analysis/page_shares.h"

#include <algorithm>
#include <cmath>

namespace tidemark::analysis {
namespace {

using model::amount_of;
using model::PageSharing;
using model::SharedPages;

// Adds up fractions of pages; a double holds a page of an exabyte.
struct Sum {
  uint64_t rss_pages = 0;
  uint64_t private_pages = 0;
  double anon_pages = 0;
  double file_pages = 0;
  double shmem_pages = 0;

  void add(const SharedPages& set, uint64_t times) {
    const double part =
        static_cast<double>(times) / static_cast<double>(set.map_count);
    rss_pages += set.page_count();
    if (times >= set.map_count) private_pages += set.page_count();
    anon_pages += part * static_cast<double>(set.anon_pages);
    file_pages += part * static_cast<double>(set.file_pages);
    shmem_pages += part * static_cast<double>(set.shmem_pages);
  }

  PageShares shares(uint64_t page_bytes) const {
    const auto bytes = [&](double pages) {
      return static_cast<uint64_t>(
          std::llround(pages * static_cast<double>(page_bytes)));
    };
    PageShares shares;
    shares.rss_bytes = rss_pages * page_bytes;
    shares.private_bytes = private_pages * page_bytes;
    shares.pss_anon_bytes = bytes(anon_pages);
    shares.pss_file_bytes = bytes(file_pages);
    shares.pss_shmem_bytes = bytes(shmem_pages);
    shares.pss_bytes =
        shares.pss_anon_bytes + shares.pss_file_bytes + shares.pss_shmem_bytes;
    return shares;
  }
};

}  // namespace

std::vector<PageShares> shares_of_each(const PageSharing& sharing,
                                       size_t process_count) {
  std::vector<Sum> sums(process_count);
  for (const SharedPages& set : sharing.sets) {
    for (const SharedPages::Mapper& mapper : set.mappers)
      sums[mapper.process].add(set, mapper.times);
  }
  std::vector<PageShares> shares;
  shares.reserve(process_count);
  for (const Sum& sum : sums)
    shares.push_back(sum.shares(sharing.page_bytes));
  return shares;
}

PageShares shares_of(const PageSharing& sharing,
                     const std::vector<bool>& members) {
  Sum sum;
  for (const SharedPages& set : sharing.sets) {
    uint64_t times = 0;
    for (const SharedPages::Mapper& mapper : set.mappers) {
      if (members[mapper.process]) times += mapper.times;
    }
    if (times > 0) sum.add(set, times);
  }
  return sum.shares(sharing.page_bytes);
}

void set_shares(const PageShares& shares, Use& use) {
  use.rss = amount_of(shares.rss_bytes);
  use.pss = amount_of(shares.pss_bytes);
  use.uss = amount_of(shares.private_bytes);
  use.shared = amount_of(shares.shared_bytes());
  use.pss_anon = amount_of(shares.pss_anon_bytes);
  use.pss_file = amount_of(shares.pss_file_bytes);
  use.pss_shmem = amount_of(shares.pss_shmem_bytes);
}

}  // namespace tidemark::analysis
