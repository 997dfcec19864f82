#include "analysis/watcher_listing.h"

#include <algorithm>
#include <map>

namespace tidemark::analysis {
namespace {

using model::Mapping;

// The library a nameless mapping may belong to: it begins with code, goes on
// with the same name, and ends with any other.
struct LastImage {
  std::string name;
  uint64_t end_address = 0;

  void pass(const Mapping& mapping) {
    const model::Permissions& p = mapping.permissions;
    const bool is_code = p.read && !p.write && p.execute && !p.shared;
    const bool is_data = p.read && !p.execute && !p.shared;
    if (is_code || (is_data && mapping.name == name)) {
      name = mapping.name;
      end_address = mapping.end_address;
    } else {
      name.clear();
    }
  }
  bool owns(const Mapping& mapping) const {
    const model::Permissions& p = mapping.permissions;
    return !name.empty() && mapping.start_address == end_address && p.read &&
           p.write && !p.execute && !p.shared;
  }
};

}  // namespace

bool all_have(const std::vector<Mapping>& mappings, model::SmapsField field) {
  return std::ranges::all_of(mappings, [&](const Mapping& mapping) {
    return mapping.fields.has(field);
  });
}

WatcherListing watcher_listing(const std::vector<Mapping>& mappings,
                               model::SmapsField field) {
  WatcherListing listing;
  std::map<std::string, uint64_t> named;
  LastImage image;
  for (const Mapping& mapping : mappings) {
    const uint64_t bytes = mapping.fields.get_or_zero(field);
    if (bytes == 0) continue;
    listing.sum_bytes += bytes;
    if (mapping.name.starts_with("[stack")) {
      listing.stack_bytes += bytes;
    } else if (mapping.name == "[heap]") {
      listing.heap_bytes += bytes;
    } else if (!mapping.name.empty()) {
      image.pass(mapping);
      named[mapping.name] += bytes;
    } else if (image.owns(mapping)) {
      named[image.name] += bytes;
    } else {
      listing.anonymous_bytes += bytes;
    }
  }
  listing.named.assign(named.begin(), named.end());
  std::ranges::stable_sort(listing.named, std::greater<>(),
                           [](const auto& entry) { return entry.second; });
  return listing;
}

}  // namespace tidemark::analysis
