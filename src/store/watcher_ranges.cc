#include "store/watcher_ranges.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/units.h"

namespace tidemark::store {
namespace {

using model::Mapping;
using model::SmapsField;

struct Sums {
  uint64_t rss_kib = 0;
  uint64_t pss_kib = 0;
  bool operator==(const Sums&) const = default;
};

Sums sums_of(const std::vector<WatcherRange>& ranges) {
  Sums sums;
  for (const WatcherRange& range : ranges) {
    sums.rss_kib +=
        range.mapping.fields.get_or_zero(SmapsField::Rss) / base::kKib;
    sums.pss_kib +=
        range.mapping.fields.get_or_zero(SmapsField::Pss) / base::kKib;
  }
  return sums;
}

// What cannot be a mapping of this measurement: it is of another process, or
// there is one of its key already.
void keep_own(std::vector<WatcherRange>& ranges) {
  std::set<int64_t> seen;
  std::erase_if(ranges, [&](const WatcherRange& range) {
    return !range.is_own || !seen.insert(range.row_id).second;
  });
}

bool has_twice(const std::vector<WatcherRange>& ranges) {
  std::set<int64_t> seen;
  return !std::ranges::all_of(ranges, [&](const WatcherRange& range) {
    return seen.insert(range.row_id).second;
  });
}

// Keys that lead nowhere, and ranges that are none.
void drop_nowhere(std::vector<WatcherRange>& ranges) {
  std::erase_if(ranges, [](const WatcherRange& range) {
    return range.row_id < 0 ||
           range.mapping.end_address < range.mapping.start_address + base::kKib;
  });
}

}  // namespace

RangeCheck check_ranges(int64_t rss_kib, int64_t pss_kib,
                        std::vector<WatcherRange>& ranges) {
  const Sums wanted = {static_cast<uint64_t>(rss_kib),
                       static_cast<uint64_t>(pss_kib)};
  const Sums found = sums_of(ranges);
  RangeCheck check;
  check.row_count = ranges.size();
  check.pss_kib = found.pss_kib;
  check.is_whole = found == wanted && !has_twice(ranges);
  if (!check.is_whole) keep_own(ranges);
  drop_nowhere(ranges);
  check.is_whole &= ranges.size() == check.row_count;
  check.is_repaired = sums_of(ranges) == wanted;
  return check;
}

// What the classifier would have seen: files are told by an inode there, and
// names are cut at their first blank here. The numbers are ours and for the
// length of this function only.
std::vector<model::RegionKind> watcher_kinds(std::vector<Mapping>& mappings) {
  std::map<std::string, uint64_t> inodes;
  for (Mapping& mapping : mappings) {
    if (mapping.name.empty() || mapping.name.starts_with('[')) continue;
    mapping.inode_id =
        inodes.emplace(mapping.name, inodes.size() + 1).first->second;
  }
  std::vector<model::RegionKind> kinds(mappings.size());
  for (const model::Region& region : model::find_regions(mappings, {})) {
    std::fill_n(kinds.begin() + static_cast<ptrdiff_t>(region.first_index),
                region.mapping_count, region.kind);
  }
  for (size_t i = 0; i < mappings.size(); ++i) {
    mappings[i].inode_id = 0;
    // "/dev/zero (deleted)": only memory shared that way is mapped so.
    if (mappings[i].name == "/dev/zero" && mappings[i].permissions.shared) {
      kinds[i] = model::RegionKind::SharedAnonymous;
    }
  }
  return kinds;
}

}  // namespace tidemark::store
