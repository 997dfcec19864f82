#include "analysis/top_growth.h"

#include <algorithm>

#include "analysis/top_history.h"

namespace tidemark::analysis {
namespace {

constexpr uint64_t kMarkNs = uint64_t{60} * 1'000'000'000;

}  // namespace

void GrowthTrack::add(uint64_t now_ns, uint64_t bytes) {
  newest_bytes_ = bytes;
  // The last one that is old enough is what later ones are compared with.
  while (marks_.size() > 1 && marks_[1].time_ns + kTopHistoryNs <= now_ns)
    marks_.erase(marks_.begin());
  if (marks_.empty() || (marks_.back().bytes != bytes &&
                         now_ns >= marks_.back().time_ns + kMarkNs))
    marks_.push_back({now_ns, bytes});
}

int64_t GrowthTrack::grown(uint64_t now_ns) const {
  if (marks_.empty()) return 0;
  size_t first = 0;
  while (first + 1 < marks_.size() &&
         marks_[first + 1].time_ns + kTopHistoryNs <= now_ns)
    ++first;
  return static_cast<int64_t>(newest_bytes_) -
         static_cast<int64_t>(marks_[first].bytes);
}

void NamedGrowth::add(uint64_t now_ns,
                      const std::map<std::string, Value>& values) {
  std::erase_if(named_,
                [&](const auto& one) { return !values.contains(one.first); });
  for (const auto& [name, value] : values) {
    Named& named = named_[name];
    named.track.add(now_ns, value.bytes);
    named.holder = value.holder;
  }
}

std::vector<TopGrower> NamedGrowth::growers(uint64_t now_ns,
                                            size_t most) const {
  std::vector<TopGrower> found;
  for (const auto& [name, named] : named_) {
    const int64_t bytes = named.track.grown(now_ns);
    if (bytes > 0) found.push_back({name, named.holder, bytes});
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &TopGrower::bytes);
  found.resize(std::min(found.size(), most));
  return found;
}

}  // namespace tidemark::analysis
