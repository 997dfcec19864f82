#include "analysis/slab_sites.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tidemark::analysis {
namespace {

template <typename Row>
void sort_and_cut(std::vector<Row>& rows, TraceOrder order, size_t top) {
  const auto size_of = [order](const Row& row) {
    return order == TraceOrder::ByPages ? row.bytes : row.peak_bytes;
  };
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
    if (size_of(a) != size_of(b)) return size_of(a) > size_of(b);
    return a.allocation_count > b.allocation_count;
  });
  if (top > 0 && rows.size() > top) rows.resize(top);
}

}  // namespace

std::vector<SlabCacheRow> make_slab_rows(const model::SlabTrace& trace,
                                         TraceOrder order, size_t top) {
  // Caches are told apart by their names: kmalloc's of one size are one here.
  std::map<std::string, SlabCacheRow> caches;
  for (const model::SlabSite& site : trace.sites) {
    SlabCacheRow& row = caches[site.cache];
    row.name = site.cache;
    row.bytes += site.bytes;
    row.objects += site.objects;
    row.allocation_count += site.allocation_count;
    row.untold_count += site.untold_count;
    row.peak_bytes += site.peak_bytes;
    row.least_peak_bytes = std::max(row.least_peak_bytes, site.peak_bytes);
    row.sites.push_back(site);
  }
  std::vector<SlabCacheRow> rows;
  rows.reserve(caches.size());
  for (auto& [name, row] : caches) {
    // No cache held more than all of them together at their highest.
    row.peak_bytes = std::min(row.peak_bytes, trace.peak_bytes);
    row.least_peak_bytes = std::max(row.least_peak_bytes, row.bytes);
    row.peak_bytes = std::max(row.peak_bytes, row.least_peak_bytes);
    // Whatever order they were told in, so that a recording says the same.
    std::ranges::sort(row.sites, {}, [](const model::SlabSite& site) {
      return site.caller.address;
    });
    sort_and_cut(row.sites, order, top);
    rows.push_back(std::move(row));
  }
  sort_and_cut(rows, order, top);
  return rows;
}

}  // namespace tidemark::analysis
