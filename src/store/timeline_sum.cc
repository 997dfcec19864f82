#include "store/timeline_sum.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tidemark::store {
namespace {

constexpr int64_t kSignedKib = 1024;  // of differences

uint64_t known(int64_t kib) {
  return kib == ChangeRow::kUnknown ? 0 : static_cast<uint64_t>(kib);
}

// Sums of what was added before are never negative.
void change(uint64_t& sum, int64_t delta_kib) {
  sum += static_cast<uint64_t>(delta_kib * kSignedKib);
}

model::RollupTotals totals_of(const ChangeRow& row, bool has_swap_pss) {
  model::RollupTotals totals;
  const bool is_scanned = row.pss_kib() == ChangeRow::kUnknown;
  totals.rss = known(row.rss_kib);
  totals.pss = known(row.pss_kib());
  totals.uss = known(row.private_kib());
  const bool takes_swap_pss = has_swap_pss && !is_scanned;
  totals.swap = takes_swap_pss ? 0 : known(row.swap_kib());
  if (row.rare.empty()) return totals;
  const auto rare = [&](std::string_view label) {
    return static_cast<uint64_t>(rare_kib(row.rare, label));
  };
  if (takes_swap_pss) totals.swap = rare("SwapPss");
  totals.private_hugetlb = rare("Private_Hugetlb");
  totals.hugetlb = rare("Shared_Hugetlb") + totals.private_hugetlb;
  totals.pss_anon = rare("Pss_Anon");
  totals.pss_file = rare("Pss_File");
  totals.pss_shmem = rare("Pss_Shmem");
  return totals;
}

MappingShare made_of(const ChangeRow& row, const model::RollupShare& part) {
  MappingShare share;
  if (row.is_end()) return share;
  share.is_there = true;
  share.is_scanned = row.pss_kib() == ChangeRow::kUnknown;
  share.category = part.category;
  share.rss_kib = static_cast<int64_t>(part.rss);
  share.pss_kib = static_cast<int64_t>(part.pss);
  share.private_kib = static_cast<int64_t>(part.uss);
  share.swap_kib = static_cast<int64_t>(part.swap);
  return share;
}

}  // namespace

MappingShare share_of(const ChangeRow& row, model::RegionKind kind,
                      bool has_swap_pss) {
  const model::RollupTotals totals = totals_of(row, has_swap_pss);
  return made_of(row, {model::region_category(kind),
                       totals.rss + totals.hugetlb, totals.pss + totals.hugetlb,
                       totals.uss + totals.private_hugetlb, totals.swap});
}

std::array<std::pair<int64_t, MappingShare>, model::kRollupShareCount>
shares_of_rollup(const ChangeRow& row, bool has_swap_pss) {
  const model::RollupShares parts =
      model::split_rollup(totals_of(row, has_swap_pss));
  std::array<std::pair<int64_t, MappingShare>, model::kRollupShareCount> shares;
  // Numbers of mappings are positive; in a damaged file they may be anything.
  const uint64_t first = uint64_t{0} - static_cast<uint64_t>(row.no) * 8;
  for (size_t i = 0; i < parts.size(); ++i)
    shares[i] = {static_cast<int64_t>(first + i), made_of(row, parts[i])};
  return shares;
}

CounterSum::CounterSum(const std::vector<model::RecordedTick>& ticks)
    : resident_deltas_(ticks.size() + 1), alive_deltas_(ticks.size() + 1) {
  ticks_.reserve(ticks.size());
  for (const model::RecordedTick& tick : ticks)
    ticks_.push_back(tick.id);
}

size_t CounterSum::index_of(int64_t tick) const {
  // Nearly always the numbers have no gaps.
  const auto guess = static_cast<size_t>(tick);
  if (guess < ticks_.size() && ticks_[guess] == tick) return guess;
  auto found = std::ranges::lower_bound(ticks_, tick);
  return static_cast<size_t>(found - ticks_.begin());
}

void CounterSum::set_end(int64_t process, int64_t tick) {
  processes_[process].end = tick;
}

void CounterSum::set_resident(int64_t process, int64_t tick, int64_t bytes) {
  int64_t& before = processes_[process].resident_bytes;
  resident_deltas_[index_of(tick)] += bytes - before;
  before = bytes;
}

void CounterSum::set_alive(int64_t process, int64_t tick, bool has_memory) {
  bool& before = processes_[process].is_alive;
  if (before == has_memory) return;
  alive_deltas_[index_of(tick)] += has_memory ? 1 : -1;
  before = has_memory;
}

void CounterSum::fill(std::vector<model::TimelinePoint>& points) {
  processes_.for_each([&](int64_t, const ProcessState& process) {
    if (!process.end) return;
    const size_t end = index_of(*process.end);
    resident_deltas_[end] -= process.resident_bytes;
    if (process.is_alive) --alive_deltas_[end];
  });
  int64_t resident = 0;
  int64_t alive = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    resident += resident_deltas_[i];
    alive += alive_deltas_[i];
    points[i].resident_bytes = static_cast<uint64_t>(resident);
    points[i].process_count = static_cast<uint32_t>(alive);
  }
}

TimelineSum::TimelineSum(const std::vector<model::RecordedTick>& ticks,
                         bool has_swap_pss)
    : has_swap_pss_(has_swap_pss) {
  timeline_.points.resize(ticks.size());
  for (size_t i = 0; i < ticks.size(); ++i)
    timeline_.points[i].tick = ticks[i].id;
}

void TimelineSum::set_end(int64_t process, int64_t tick) {
  ends_[tick].push_back(process);
}

void TimelineSum::apply(const MappingShare& share, int64_t sign,
                        ProcessState& state) {
  if (!share.is_there) return;
  const auto at = static_cast<size_t>(share.category);
  change(sums_.rss_bytes, sign * share.rss_kib);
  change(sums_.pss_bytes, sign * share.pss_kib);
  change(sums_.private_bytes, sign * share.private_kib);
  change(sums_.swap_bytes, sign * share.swap_kib);
  change(sums_.category_rss_bytes[at], sign * share.rss_kib);
  change(sums_.category_pss_bytes[at], sign * share.pss_kib);
  const auto step = static_cast<size_t>(sign);
  const bool was_there = state.there_count > 0;
  const bool was_scanned = state.scanned_count > 0;
  state.there_count += step;
  if (share.is_scanned) state.scanned_count += step;
  // undetailed_count holds the detailed ones.
  if (was_there != (state.there_count > 0)) {
    sums_.undetailed_count += static_cast<uint32_t>(sign);
  }
  if (was_scanned != (state.scanned_count > 0)) {
    sums_.scanned_count += static_cast<uint32_t>(sign);
  }
}

void TimelineSum::clear(ProcessState& state) {
  state.mappings.for_each(
      [&](int64_t, const MappingShare& share) { apply(share, -1, state); });
  state.mappings.clear();
}

void TimelineSum::advance(int64_t tick) {
  std::vector<model::TimelinePoint>& points = timeline_.points;
  while (next_point_ < points.size() && points[next_point_].tick < tick) {
    const int64_t here = points[next_point_].tick;
    while (!ends_.empty() && ends_.begin()->first <= here) {
      for (int64_t process : ends_.begin()->second) {
        auto found = processes_.find(process);
        if (found != processes_.end()) clear(found->second);
      }
      ends_.erase(ends_.begin());
    }
    const int64_t kept_tick = here;
    points[next_point_] = sums_;
    points[next_point_].tick = kept_tick;
    ++next_point_;
  }
}

void TimelineSum::replace(int64_t no, const MappingShare& share,
                          ProcessState& state) {
  MappingShare& before = state.mappings[no];
  apply(before, -1, state);
  before = share;
  apply(share, 1, state);
  if (!share.is_there) state.mappings.erase(no);
}

void TimelineSum::add(const ChangeRow& row, bool is_frame,
                      model::RegionKind kind) {
  advance(row.tick);
  ProcessState& state = processes_[row.process];
  if (is_frame) clear(state);
  if (kind != model::RegionKind::Rollup) {
    replace(row.no, share_of(row, kind, has_swap_pss_), state);
    return;
  }
  for (const auto& [no, share] : shares_of_rollup(row, has_swap_pss_))
    replace(no, share, state);
}

model::Timeline TimelineSum::take() {
  std::vector<model::TimelinePoint>& points = timeline_.points;
  if (!points.empty()) advance(points.back().tick + 1);
  return std::move(timeline_);
}

CategoryTimeline::CategoryTimeline(
    const std::vector<model::RecordedTick>& ticks) {
  timeline_.points.resize(ticks.size());
  for (size_t i = 0; i < ticks.size(); ++i)
    timeline_.points[i].tick = ticks[i].id;
}

void CategoryTimeline::advance(int64_t tick) {
  std::vector<model::TimelinePoint>& points = timeline_.points;
  while (next_point_ < points.size() && points[next_point_].tick < tick) {
    const int64_t here = points[next_point_].tick;
    points[next_point_] = sums_;
    points[next_point_++].tick = here;
  }
}

void CategoryTimeline::set(int64_t tick, model::Category category,
                           const model::BandShares& shares) {
  advance(tick);
  const auto at = static_cast<size_t>(category);
  const Sum before =
      std::exchange(others_[at], {shares.private_bytes, shares.swap_bytes});
  sums_.rss_bytes += shares.rss_bytes - sums_.category_rss_bytes[at];
  sums_.pss_bytes += shares.pss_bytes - sums_.category_pss_bytes[at];
  sums_.private_bytes += shares.private_bytes - before.private_bytes;
  sums_.swap_bytes += shares.swap_bytes - before.swap_bytes;
  sums_.category_rss_bytes[at] = shares.rss_bytes;
  sums_.category_pss_bytes[at] = shares.pss_bytes;
}

model::Timeline CategoryTimeline::take() {
  if (!timeline_.points.empty()) advance(timeline_.points.back().tick + 1);
  return std::move(timeline_);
}

void SeriesSum::set_end(int64_t process, int64_t tick) {
  ends_[tick].push_back(process);
  processes_[process].end = tick;
}

void SeriesSum::change(size_t series, int64_t tick, int64_t delta_kib) {
  if (delta_kib == 0) return;
  Sum& sum = sums_[series];
  sum.kib += delta_kib;
  const auto bytes = static_cast<uint64_t>(sum.kib * kSignedKib);
  std::vector<std::pair<int64_t, uint64_t>>& points = sum.series.points;
  if (!points.empty() && points.back().first == tick) {
    points.back().second = bytes;
  } else {
    points.emplace_back(tick, bytes);
  }
}

void SeriesSum::clear(ProcessState& state, int64_t tick) {
  state.places.for_each([&](int64_t, const Place& place) {
    change(place.series, tick, -place.pss_kib);
  });
  state.places.clear();
}

void SeriesSum::end_until(int64_t tick) {
  while (!ends_.empty() && ends_.begin()->first <= tick) {
    for (int64_t process : ends_.begin()->second) {
      ProcessState* state = processes_.find(process);
      if (state) clear(*state, ends_.begin()->first);
    }
    ends_.erase(ends_.begin());
  }
}

size_t SeriesSum::series_of(model::Category category, std::string_view name) {
  auto [at, is_new] =
      index_.try_emplace(std::pair(category, std::string(name)), sums_.size());
  if (is_new) {
    sums_.emplace_back();
    sums_.back().series.category = category;
    sums_.back().series.name = name;
  }
  return at->second;
}

void SeriesSum::replace(const ChangeRow& row, int64_t no,
                        const MappingShare& share, model::RegionKind kind,
                        ProcessState& state) {
  Place* known = state.places.find(no);
  if (known) change(known->series, row.tick, -known->pss_kib);
  if (!share.is_there) {
    if (known) state.places.erase(no);
    return;
  }
  // As in BandSum: most are what they were.
  if (!known || known->kind != kind || known->category != share.category) {
    const std::optional<std::string_view> name = name_of_(row, kind);
    if (!name) {
      state.places.erase(no);
      return;
    }
    if (!known) known = &state.places[no];
    *known = {0, kind, share.category, series_of(share.category, *name)};
  }
  known->pss_kib = share.pss_kib;
  change(known->series, row.tick, known->pss_kib);
}

void SeriesSum::add(const ChangeRow& row, bool is_frame,
                    model::RegionKind kind) {
  end_until(row.tick);
  ProcessState& state = processes_[row.process];
  // Where ticks were thinned out, the last of its changes and its end can have
  // come to be one.
  if (state.end && row.tick >= *state.end) return;
  if (is_frame) clear(state, row.tick);
  constexpr bool kHasSwapPss = false;  // swap is not looked at
  if (kind != model::RegionKind::Rollup) {
    replace(row, row.no, share_of(row, kind, kHasSwapPss), kind, state);
    return;
  }
  for (const auto& [no, share] : shares_of_rollup(row, kHasSwapPss))
    replace(row, no, share, kind, state);
}

std::vector<model::Series> SeriesSum::take(uint64_t least_bytes) {
  if (!ticks_.empty()) end_until(ticks_.back().id);
  std::vector<model::Series> all;
  for (Sum& sum : sums_) {
    uint64_t highest = 0;
    for (const auto& [tick, bytes] : sum.series.points)
      highest = std::max(highest, bytes);
    if (highest >= least_bytes) all.push_back(std::move(sum.series));
  }
  return all;
}

}  // namespace tidemark::store
