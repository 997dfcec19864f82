#include "analysis/metric_roster.h"

#include <algorithm>
#include <cstddef>

namespace tidemark::analysis {
namespace {

constexpr double kNsPerHour = 3.6e12;
// One that is not there keeps its place for so long: what runs each five
// minutes is one series, not many.
constexpr uint64_t kKeptNs = uint64_t{600} * 1'000'000'000;

// Large enough to take another's place: two of about the same size would take
// it from each other in turn.
bool is_clearly_larger(uint64_t bytes, uint64_t than) {
  return bytes > than + than / 4;
}

}  // namespace

MetricRoster::MetricRoster(size_t limit)
    : limit_(limit), credit_(2 * static_cast<double>(limit)) {}

void MetricRoster::refill(uint64_t now_ns) {
  const double passed_ns =
      static_cast<double>(now_ns - refilled_ns_.value_or(now_ns));
  refilled_ns_ = now_ns;
  const auto limit = static_cast<double>(limit_);
  credit_ = std::min(credit_ + limit * passed_ns / kNsPerHour, 2 * limit);
}

void MetricRoster::admit(const RankedName& name, uint64_t now_ns) {
  const auto least = std::ranges::min_element(
      places_, {}, [](const auto& entry) { return entry.second.bytes; });
  const bool is_full = places_.size() >= limit_;
  if (is_full && (least == places_.end() ||
                  !is_clearly_larger(name.bytes, least->second.bytes))) {
    return;
  }
  if (credit_ < 1) {
    ++refused_count_;
    return;
  }
  credit_ -= 1;
  if (is_full) places_.erase(least);
  places_.emplace(name.name, Place{name.bytes, now_ns});
}

std::unordered_set<std::string> MetricRoster::choose(
    std::vector<RankedName> names, uint64_t now_ns) {
  refill(now_ns);
  for (auto& [name, place] : places_)
    place.bytes = 0;
  std::unordered_set<std::string> present;
  std::vector<RankedName> newcomers;
  for (RankedName& one : names) {
    present.insert(one.name);
    const auto place = places_.find(one.name);
    if (place == places_.end()) {
      newcomers.push_back(std::move(one));
    } else {
      place->second = {one.bytes, now_ns};
    }
  }
  std::erase_if(places_, [&](const auto& entry) {
    return now_ns - entry.second.seen_ns > kKeptNs;
  });
  const size_t tried = std::min(newcomers.size(), limit_);
  std::ranges::partial_sort(
      newcomers, newcomers.begin() + static_cast<std::ptrdiff_t>(tried),
      [](const RankedName& a, const RankedName& b) {
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
      });
  for (size_t i = 0; i < tried; ++i)
    admit(newcomers[i], now_ns);
  std::unordered_set<std::string> chosen;
  for (const auto& [name, place] : places_) {
    if (present.contains(name)) chosen.insert(name);
  }
  return chosen;
}

}  // namespace tidemark::analysis
