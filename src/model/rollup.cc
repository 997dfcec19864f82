#include "model/rollup.h"

#include <algorithm>

namespace tidemark::model {

RollupShares split_rollup(const RollupTotals& totals) {
  uint64_t rest = totals.pss;
  const auto take = [&rest](Category category, uint64_t claimed) {
    const uint64_t pss = std::min(claimed, rest);
    rest -= pss;
    return RollupShare{category, 0, pss, 0, 0};
  };
  const RollupShare huge = {Category::Huge, totals.hugetlb, totals.hugetlb,
                            totals.private_hugetlb, 0};
  const RollupShare anon = take(Category::Anon, totals.pss_anon);
  const RollupShare file = take(Category::File, totals.pss_file);
  const RollupShare shm = take(Category::Shm, totals.pss_shmem);
  return {huge,
          anon,
          file,
          shm,
          {Category::Unnamed, totals.rss, rest, totals.uss, totals.swap}};
}

}  // namespace tidemark::model
