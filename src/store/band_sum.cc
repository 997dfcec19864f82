#include "store/band_sum.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

#include "base/units.h"

namespace tidemark::store {
namespace {

using model::BestShare;

uint64_t known(int64_t kib) {
  return kib == ChangeRow::kUnknown ? 0 : static_cast<uint64_t>(kib);
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
  share.category = part.category;
  share.whole = {part.rss, part.pss, part.uss, part.swap, 0, 0};
  share.anonymous_kib = known(row.anonymous_kib());
  if (row.pss_kib() != ChangeRow::kUnknown) return share;
  // Only scanned: its resident pages are a bound.
  share.whole.bounded = part.rss - part.pss;
  share.whole.pss = part.rss;
  return share;
}

model::BandShares in_bytes(const BestShare& kib) {
  return {kib.rss * base::kKib,     kib.pss * base::kKib,
          kib.uss * base::kKib,     kib.swap * base::kKib,
          kib.bounded * base::kKib, kib.estimated * base::kKib};
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
  for (size_t i = 0; i < parts.size(); ++i) {
    shares[i] = {static_cast<int64_t>(first + i), made_of(row, parts[i])};
    shares[i].second.anonymous_kib = 0;  // the kinds are apart already
  }
  return shares;
}

BandSum::BandSum(BandOptions options)
    : options_(std::move(options)), next_tick_(options_.range.begin) {
  options_.ticks = options_.ticks.first(options_.range.end);
}

BandSum::ProcessState& BandSum::state_of(int64_t process) {
  ProcessState& state = processes_[process];
  state.id = process;
  return state;
}

void BandSum::set_end(int64_t process, int64_t tick) {
  ends_[tick].push_back(process);
  state_of(process).end = tick;
}

void BandSum::mark(ProcessState& state) {
  if (!state.is_marked) marked_.push_back(state.id);
  state.is_marked = true;
}

// Where it was read since, the counters of then are those that it has now: they
// have not changed in between.
void BandSum::note_reading(int64_t tick, ProcessState& state) const {
  const std::optional<int64_t> read = options_.detail_tick(state.id, tick);
  if (!read || *read <= state.read_tick) return;
  state.read_tick = *read;
  state.then = state.now;
}

void BandSum::hold_unsplit(const model::BestShares& unsplit,
                           ProcessState& state) {
  for (auto& [band, held] : state.held)
    held.unsplit = {};
  for (model::Category category : model::kCategories) {
    const BestShare& share = unsplit[static_cast<size_t>(category)];
    if (share == BestShare()) continue;
    const auto hold = [&](uint32_t band) {
      Held& held = state.held[band];
      held.category = category;
      held.unsplit = share;
    };
    hold(process_band(state.id, category));
    if (options_.name_of) hold(object_band(category, model::kUnsplitName));
  }
}

// True when it must be looked at again at the next tick.
bool BandSum::update(int64_t tick, ProcessState& state) {
  note_reading(tick, state);
  std::optional<model::SplitScale> scale;
  if (state.then && state.now && *state.then != *state.now) {
    scale.emplace(*state.then, state.split_resident, *state.now);
  }
  hold_unsplit(scale ? model::bounded_shares(scale->unsplit(), base::kKib)
                     : model::BestShares(),
               state);
  for (auto& [band, held] : state.held) {
    BestShare now =
        scale ? held.split.scaled(held.category, *scale) : held.split.whole();
    now.add(held.unsplit);
    if (now == held.added) continue;
    Sum& sum = sums_[band];
    sum.share.subtract(held.added);
    sum.share.add(now);
    held.added = now;
    if (!sum.is_changed) changed_.push_back(band);
    sum.is_changed = true;
  }
  return scale.has_value();
}

// What has changed belongs to the first asked tick that was not told yet.
void BandSum::tell_next() {
  const int64_t tick = options_.ticks[next_tick_];
  std::vector<int64_t> again;
  for (int64_t process : marked_) {
    ProcessState& state = *processes_.find(process);
    state.is_marked = update(tick, state);
    if (state.is_marked) again.push_back(process);
  }
  marked_ = std::move(again);
  for (uint32_t band : changed_) {
    sums_[band].is_changed = false;
    const model::BandShares shares = in_bytes(sums_[band].share);
    std::vector<model::BandPoint>& points = bands_[band].points;
    const bool is_same = points.empty() ? shares == model::BandShares()
                                        : points.back().shares == shares;
    if (!is_same) points.push_back({next_tick_, shares});
  }
  changed_.clear();
  ++next_tick_;
}

void BandSum::tell_until(int64_t tick) {
  while (next_tick_ < options_.ticks.size() &&
         options_.ticks[next_tick_] < tick) {
    tell_next();
  }
}

void BandSum::end_until(int64_t tick) {
  while (!ends_.empty() && ends_.begin()->first <= tick) {
    tell_until(ends_.begin()->first);
    for (int64_t process : ends_.begin()->second) {
      ProcessState& state = state_of(process);
      clear(state);
      state.then = state.now = std::nullopt;
    }
    ends_.erase(ends_.begin());
  }
  tell_until(tick);
}

void BandSum::change(const Place& place, bool is_added, ProcessState& state) {
  const model::SplitShare split =
      model::SplitShare::of(place.share.whole, place.share.anonymous_kib);
  const auto apply = [&](uint32_t band) {
    Held& held = state.held[band];
    held.category = place.share.category;
    if (is_added) {
      held.split.add(split);
    } else {
      held.split.subtract(split);
    }
  };
  const model::ResidentCounters resident =
      model::resident_of(place.share.category, split, base::kKib);
  if (is_added) {
    state.split_resident.add(resident);
  } else {
    state.split_resident.subtract(resident);
  }
  apply(place.of_process);
  if (options_.name_of) apply(place.of_object);
  mark(state);
}

void BandSum::clear(ProcessState& state) {
  state.places.for_each(
      [&](int64_t, const Place& place) { change(place, false, state); });
  state.places.clear();
  mark(state);
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
  if (known) change(*known, false, state);
  if (!share.is_there) {
    if (known) state.places.erase(no);
    return;
  }
  // Most rows tell of a mapping that is what it was: its bands are known.
  if (!known || known->kind != kind ||
      known->share.category != share.category) {
    Place place;
    place.kind = kind;
    if (options_.name_of) {
      const std::optional<std::string_view> name = options_.name_of(row, kind);
      if (!name) {
        state.places.erase(no);
        return;
      }
      place.of_object = object_band(share.category, *name);
    }
    place.of_process = process_band(row.process, share.category);
    if (!known) known = &state.places[no];
    *known = place;
  }
  known->share = share;
  change(*known, true, state);
}

void BandSum::add(const ChangeRow& row, bool is_frame, model::RegionKind kind) {
  end_until(row.tick);
  ProcessState& state = state_of(row.process);
  // Where ticks were thinned out, the last of its changes and its end can have
  // come to be one.
  if (has_ended(state, row.tick)) return;
  note_reading(row.tick, state);
  if (is_frame) clear(state);
  if (kind != model::RegionKind::Rollup) {
    replace(row, row.no, share_of(row, kind, options_.has_swap_pss), kind,
            state);
    return;
  }
  for (const auto& [no, share] : shares_of_rollup(row, options_.has_swap_pss))
    replace(row, no, share, kind, state);
}

void BandSum::set_counters(
    int64_t process, int64_t tick,
    const std::optional<model::ResidentCounters>& counters) {
  end_until(tick);
  ProcessState& state = state_of(process);
  if (has_ended(state, tick) || state.now == counters) return;
  note_reading(tick - 1, state);
  state.now = counters;
  note_reading(tick, state);
  mark(state);
}

void BandSum::begin(int64_t process, std::optional<int64_t> read_tick,
                    const std::optional<model::ResidentCounters>& then,
                    const std::optional<model::ResidentCounters>& now) {
  ProcessState& state = state_of(process);
  state.read_tick = read_tick.value_or(-1);
  state.then = read_tick ? then : model::ResidentCounters();
  state.now = now;
  mark(state);
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

namespace {

// What a band is at each tick, of the categories that can be limited.
class BandCourse {
 public:
  explicit BandCourse(const model::Band& band) : points_(band.points) {}
  const model::BandShares& at(size_t tick_index) {
    while (next_ < points_.size() && points_[next_].tick_index <= tick_index)
      now_ = points_[next_++].shares;
    return now_;
  }

 private:
  const std::vector<model::BandPoint>& points_;
  size_t next_ = 0;
  model::BandShares now_;
};

bool can_be_limited(const model::Band& band) {
  const bool is_shared = band.category == model::Category::Shm ||
                         band.category == model::Category::File ||
                         band.category == model::Category::Code;
  return is_shared &&
         std::ranges::any_of(band.points, [](const model::BandPoint& point) {
           return point.shares.bounded_bytes > 0 ||
                  point.shares.estimated_bytes > 0;
         });
}

uint64_t reduced(uint64_t part, uint64_t after, uint64_t before) {
  if (after == before) return part;
  return static_cast<uint64_t>(static_cast<double>(part) *
                               static_cast<double>(after) /
                               static_cast<double>(before));
}

// The sums of the bands at each tick as they are, and as they may be.
struct Limited {
  std::vector<model::BestShares> before;
  std::vector<model::BestShares> after;
  bool is_any = false;
};

Limited limited_sums(std::span<const model::SharedLimits> limits,
                     const std::vector<model::Band>& bands) {
  Limited sums;
  sums.before.resize(limits.size());
  for (const model::Band& band : bands) {
    BandCourse course(band);
    for (size_t i = 0; i < limits.size(); ++i) {
      const model::BandShares& shares = course.at(i);
      sums.before[i][static_cast<size_t>(band.category)].add(
          {shares.rss_bytes, shares.pss_bytes, shares.private_bytes,
           shares.swap_bytes, shares.bounded_bytes, shares.estimated_bytes});
    }
  }
  sums.after = sums.before;
  for (size_t i = 0; i < limits.size(); ++i) {
    model::count_shared_once(limits[i], sums.after[i]);
    sums.is_any |= sums.after[i] != sums.before[i];
  }
  return sums;
}

void limit_band(const Limited& sums, model::Band& band) {
  const auto category = static_cast<size_t>(band.category);
  std::vector<model::BandPoint> points;
  BandCourse course(band);
  for (size_t i = 0; i < sums.before.size(); ++i) {
    model::BandShares shares = course.at(i);
    const BestShare& before = sums.before[i][category];
    const BestShare& after = sums.after[i][category];
    for (const auto& [part, now, then] :
         {std::tuple(&shares.bounded_bytes, after.bounded, before.bounded),
          std::tuple(&shares.estimated_bytes, after.estimated,
                     before.estimated)}) {
      const uint64_t left = reduced(*part, now, then);
      shares.pss_bytes -= *part - left;
      *part = left;
    }
    shares.private_bytes = reduced(shares.private_bytes, after.uss, before.uss);
    const bool is_same = points.empty() ? shares == model::BandShares()
                                        : points.back().shares == shares;
    if (!is_same) points.push_back({i, shares});
  }
  band.points = std::move(points);
}

}  // namespace

void limit_shared(std::span<const model::SharedLimits> limits,
                  model::Bands& bands) {
  // Most recordings have nothing that could be limited, and cost nothing here.
  if (std::ranges::none_of(bands.by_process, can_be_limited)) return;
  const Limited sums = limited_sums(limits, bands.by_process);
  if (!sums.is_any) return;
  for (std::vector<model::Band>* group :
       {&bands.by_process, &bands.by_object}) {
    for (model::Band& band : *group) {
      if (can_be_limited(band)) limit_band(sums, band);
    }
  }
}

}  // namespace tidemark::store
