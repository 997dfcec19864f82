#include "store/band_sum.h"

#include <limits>
#include <string>

#include "base/units.h"

namespace tidemark::store {

void BandSum::Sums::add(const MappingShare& share, int64_t sign) {
  rss += sign * share.rss_kib;
  pss += sign * share.pss_kib;
  own += sign * share.private_kib;
  swap += sign * share.swap_kib;
}

// Sums of what was added before are never negative.
model::BandShares BandSum::Sums::shares() const {
  const auto bytes = [](int64_t kib) {
    return static_cast<uint64_t>(kib) * base::kKib;
  };
  return {bytes(rss), bytes(pss), bytes(own), bytes(swap)};
}

void BandSum::set_end(int64_t process, int64_t tick) {
  ends_[tick].push_back(process);
  end_of_[process] = tick;
}

// What has changed belongs to the first asked tick that was not told yet.
void BandSum::tell_until(int64_t tick) {
  while (next_tick_ < ticks_.size() && ticks_[next_tick_] < tick) {
    for (size_t index : changed_) {
      Open& open = open_[index];
      open.is_changed = false;
      const model::BandShares shares = open.sums.shares();
      std::vector<model::BandPoint>& points = open.band.points;
      const bool is_same = points.empty() ? shares == model::BandShares()
                                          : points.back().shares == shares;
      if (!is_same) points.push_back({next_tick_, shares});
    }
    changed_.clear();
    ++next_tick_;
  }
}

void BandSum::end_until(int64_t tick) {
  while (!ends_.empty() && ends_.begin()->first <= tick) {
    tell_until(ends_.begin()->first);
    for (int64_t process : ends_.begin()->second) {
      auto found = processes_.find(process);
      if (found != processes_.end()) clear(found->second);
    }
    ends_.erase(ends_.begin());
  }
  tell_until(tick);
}

void BandSum::change(size_t band, const MappingShare& share, int64_t sign) {
  Open& open = open_[band];
  open.sums.add(share, sign);
  if (!open.is_changed) changed_.push_back(band);
  open.is_changed = true;
}

void BandSum::clear(Places& places) {
  for (const auto& [no, place] : places) {
    change(place.of_process, place.share, -1);
    change(place.of_object, place.share, -1);
  }
  places.clear();
}

size_t BandSum::process_band(int64_t process, model::Category category) {
  auto [at, is_new] =
      of_process_.try_emplace(std::pair(process, category), open_.size());
  if (is_new) {
    open_.emplace_back();
    open_.back().band.process = process;
    open_.back().band.category = category;
  }
  return at->second;
}

size_t BandSum::object_band(model::Category category, std::string_view name) {
  base::TextMap<size_t>& names = of_object_[static_cast<size_t>(category)];
  auto found = names.find(name);
  if (found != names.end()) return found->second;
  names.emplace(name, open_.size());
  open_.emplace_back();
  open_.back().band.category = category;
  open_.back().band.name = name;
  return open_.size() - 1;
}

void BandSum::replace(int64_t process, int64_t no, const MappingShare& share,
                      std::string_view name, Places& places) {
  auto known = places.find(no);
  if (known != places.end()) {
    change(known->second.of_process, known->second.share, -1);
    change(known->second.of_object, known->second.share, -1);
  }
  if (!share.is_there) {
    if (known != places.end()) places.erase(known);
    return;
  }
  const Place place = {share, process_band(process, share.category),
                       object_band(share.category, name)};
  change(place.of_process, share, 1);
  change(place.of_object, share, 1);
  if (known != places.end()) {
    known->second = place;
  } else {
    places.emplace(no, place);
  }
}

void BandSum::add(const ChangeRow& row, bool is_frame, model::RegionKind kind,
                  std::string_view name) {
  end_until(row.tick);
  // Where ticks were thinned out, the last of its changes and its end can have
  // come to be one.
  auto end = end_of_.find(row.process);
  if (end != end_of_.end() && row.tick >= end->second) return;
  Places& places = processes_[row.process];
  if (is_frame) clear(places);
  if (kind != model::RegionKind::Rollup) {
    replace(row.process, row.no, share_of(row, kind, has_swap_pss_), name,
            places);
    return;
  }
  for (const auto& [no, share] : shares_of_rollup(row, has_swap_pss_))
    replace(row.process, no, share, name, places);
}

model::Bands BandSum::take() {
  end_until(std::numeric_limits<int64_t>::max());
  model::Bands bands;
  for (Open& open : open_) {
    if (open.band.points.empty()) continue;
    std::vector<model::Band>& group =
        open.band.process ? bands.by_process : bands.by_object;
    group.push_back(std::move(open.band));
  }
  return bands;
}

}  // namespace tidemark::store
