#include "store/band_sum.h"

#include <limits>
#include <string>

#include "base/units.h"

namespace tidemark::store {

void BandSum::Sums::add(const MappingShare& share, int64_t sign) {
  rss += sign * share.rss_kib;
  pss += sign * share.pss_kib;
  if (share.is_scanned) scanned += sign * share.rss_kib;
  own += sign * share.private_kib;
  swap += sign * share.swap_kib;
}

// Sums of what was added before are never negative.
model::BandShares BandSum::Sums::shares() const {
  const auto bytes = [](int64_t kib) {
    return static_cast<uint64_t>(kib) * base::kKib;
  };
  return {bytes(rss), bytes(pss), bytes(own), bytes(swap), bytes(scanned)};
}

void BandSum::set_end(int64_t process, int64_t tick) {
  ends_[tick].push_back(process);
  processes_[process].end = tick;
}

// What has changed belongs to the first asked tick that was not told yet.
void BandSum::tell_until(int64_t tick) {
  while (next_tick_ < ticks_.size() && ticks_[next_tick_] < tick) {
    for (uint32_t band : changed_) {
      sums_[band].is_changed = false;
      const model::BandShares shares = sums_[band].shares();
      std::vector<model::BandPoint>& points = bands_[band].points;
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
      ProcessState* state = processes_.find(process);
      if (state) clear(*state);
    }
    ends_.erase(ends_.begin());
  }
  tell_until(tick);
}

BandSum::Sums& BandSum::changing(uint32_t band) {
  Sums& sums = sums_[band];
  if (!sums.is_changed) changed_.push_back(band);
  sums.is_changed = true;
  return sums;
}

void BandSum::change(const Place& place, int64_t sign) {
  changing(place.of_process).add(place.share, sign);
  changing(place.of_object).add(place.share, sign);
}

void BandSum::clear(ProcessState& state) {
  state.places.for_each(
      [&](int64_t, const Place& place) { change(place, -1); });
  state.places.clear();
}

uint32_t BandSum::new_band(model::Category category) {
  bands_.emplace_back();
  bands_.back().category = category;
  sums_.emplace_back();
  return static_cast<uint32_t>(bands_.size() - 1);
}

uint32_t BandSum::process_band(int64_t process, model::Category category) {
  auto [at, is_new] = of_process_.try_emplace(std::pair(process, category));
  if (is_new) {
    at->second = new_band(category);
    bands_.back().process = process;
  }
  return at->second;
}

uint32_t BandSum::object_band(model::Category category, std::string_view name) {
  base::TextMap<uint32_t>& names = of_object_[static_cast<size_t>(category)];
  auto found = names.find(name);
  if (found != names.end()) return found->second;
  const uint32_t band = new_band(category);
  names.emplace(name, band);
  bands_.back().name = name;
  return band;
}

void BandSum::replace(const ChangeRow& row, int64_t no,
                      const MappingShare& share, model::RegionKind kind,
                      ProcessState& state) {
  Place* known = state.places.find(no);
  if (known) change(*known, -1);
  if (!share.is_there) {
    if (known) state.places.erase(no);
    return;
  }
  // Most rows tell of a mapping that is what it was: its bands are known.
  if (!known || known->kind != kind ||
      known->share.category != share.category) {
    const std::optional<std::string_view> name = name_of_(row, kind);
    if (!name) {
      state.places.erase(no);
      return;
    }
    Place place;
    place.kind = kind;
    place.of_process = process_band(row.process, share.category);
    place.of_object = object_band(share.category, *name);
    if (!known) known = &state.places[no];
    *known = place;
  }
  known->share = share;
  change(*known, 1);
}

void BandSum::add(const ChangeRow& row, bool is_frame, model::RegionKind kind) {
  end_until(row.tick);
  ProcessState& state = processes_[row.process];
  // Where ticks were thinned out, the last of its changes and its end can have
  // come to be one.
  if (state.end && row.tick >= *state.end) return;
  if (is_frame) clear(state);
  if (kind != model::RegionKind::Rollup) {
    replace(row, row.no, share_of(row, kind, has_swap_pss_), kind, state);
    return;
  }
  for (const auto& [no, share] : shares_of_rollup(row, has_swap_pss_))
    replace(row, no, share, kind, state);
}

std::vector<model::Band> BandSum::take() {
  end_until(std::numeric_limits<int64_t>::max());
  return std::move(bands_);
}

void BandJoin::add(std::vector<model::Band> part, TickRange range) {
  std::vector<bool> goes_on(bands_.size());
  for (model::Band& band : part) {
    const auto [at, is_new] = index_.try_emplace(
        Key(band.process, band.category, band.name), bands_.size());
    if (is_new) {
      bands_.push_back(std::move(band));
      continue;
    }
    goes_on[at->second] = true;
    std::vector<model::BandPoint>& points = bands_[at->second].points;
    // A part tells all that is not zero at its first tick, whether it changed
    // there or not.
    model::BandPoint first = {range.begin, {}};
    size_t told = 0;
    if (!band.points.empty() && band.points[0].tick_index == range.begin)
      first = band.points[told++];
    const model::BandShares before =
        points.empty() ? model::BandShares() : points.back().shares;
    if (range.begin < range.end && first.shares != before)
      points.push_back(first);
    points.insert(points.end(),
                  band.points.begin() + static_cast<ptrdiff_t>(told),
                  band.points.end());
  }
  if (range.begin == range.end) return;
  for (size_t i = 0; i < goes_on.size(); ++i) {
    std::vector<model::BandPoint>& points = bands_[i].points;
    if (goes_on[i] || points.empty() ||
        points.back().shares == model::BandShares()) {
      continue;
    }
    points.push_back({range.begin, {}});
  }
}

model::Bands BandJoin::take() {
  model::Bands bands;
  for (model::Band& band : bands_) {
    if (band.points.empty()) continue;
    std::vector<model::Band>& group =
        band.process ? bands.by_process : bands.by_object;
    group.push_back(std::move(band));
  }
  return bands;
}

}  // namespace tidemark::store
