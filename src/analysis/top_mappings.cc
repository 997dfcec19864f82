#include "analysis/top_mappings.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace tidemark::analysis {
namespace {

// By RSS where shares were not read.
bool comes_before(const TopMapping& a, const TopMapping& b) {
  const auto weight = [](const TopMapping& mapping) {
    return std::tuple(mapping.use.pss_bytes + mapping.use.swap_pss_bytes,
                      mapping.use.rss_bytes);
  };
  if (a.use.category != b.use.category) return a.use.category < b.use.category;
  return weight(a) > weight(b);
}

}  // namespace

std::vector<TopMapping> largest_mappings(
    const std::vector<model::Mapping>& mappings,
    const std::vector<model::Region>& regions, size_t each) {
  std::map<std::pair<model::Category, std::string_view>, CategoryUse> sums;
  for (const model::Region& region : regions) {
    const model::Category category = model::region_category(region.kind);
    for (size_t i = 0; i < region.mapping_count; ++i) {
      const model::Mapping& mapping = mappings[region.first_index + i];
      // What lies behind an image is its bss, and has no name of its own.
      const std::string_view name = model::object_name(
          region.kind,
          mapping.name.empty() ? std::string_view(region.name) : mapping.name);
      add_mapping(mapping, sums[{category, name}]);
    }
  }
  std::vector<TopMapping> all;
  for (auto& [key, use] : sums) {
    if (use.rss_bytes == 0 && use.swap_pss_bytes == 0) continue;
    use.category = key.first;
    all.push_back({std::string(key.second), use});
  }
  std::ranges::stable_sort(all, comes_before);
  std::vector<TopMapping> largest;
  size_t count = 0;
  for (TopMapping& mapping : all) {
    const bool is_same_kind =
        !largest.empty() && largest.back().use.category == mapping.use.category;
    count = is_same_kind ? count + 1 : 1;
    if (count <= each) largest.push_back(std::move(mapping));
  }
  return largest;
}

}  // namespace tidemark::analysis
