#include "store/timeline_sum.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tidemark::store {

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
  const model::BandShares before = std::exchange(shares_[at], shares);
  sums_.rss_bytes += shares.rss_bytes - before.rss_bytes;
  sums_.pss_bytes += shares.pss_bytes - before.pss_bytes;
  sums_.private_bytes += shares.private_bytes - before.private_bytes;
  sums_.swap_bytes += shares.swap_bytes - before.swap_bytes;
  sums_.bounded_bytes += shares.bounded_bytes - before.bounded_bytes;
  sums_.estimated_bytes += shares.estimated_bytes - before.estimated_bytes;
  sums_.category_rss_bytes[at] = shares.rss_bytes;
  sums_.category_pss_bytes[at] = shares.pss_bytes;
}

model::Timeline CategoryTimeline::take() {
  if (!timeline_.points.empty()) advance(timeline_.points.back().tick + 1);
  return std::move(timeline_);
}

BandSteps::BandSteps(const std::vector<model::Band>& bands) {
  for (const model::Band& band : bands) {
    model::BandShares before;
    for (const model::BandPoint& point : band.points) {
      steps_.push_back({point.tick_index, &band, before, &point.shares});
      before = point.shares;
    }
  }
  std::ranges::stable_sort(steps_, {}, &Step::tick_index);
}

std::vector<std::pair<model::Category, model::BandShares>>
BandSteps::changed_at(size_t tick_index) {
  std::array<bool, model::kCategoryCount> is_changed{};
  for (; next_ < steps_.size() && steps_[next_].tick_index <= tick_index;
       ++next_) {
    const Step& step = steps_[next_];
    const auto at = static_cast<size_t>(step.band->category);
    is_changed[at] = true;
    sums_[at].add(*step.now);
    sums_[at].subtract(step.before);
    const int64_t process = step.band->process.value_or(0);
    if (step.now->bounded_bytes > 0) ++bounded_[process];
    if (step.before.bounded_bytes > 0 && --bounded_[process] == 0) {
      bounded_.erase(process);
    }
  }
  std::vector<std::pair<model::Category, model::BandShares>> changed;
  for (model::Category category : model::kCategories) {
    const auto at = static_cast<size_t>(category);
    if (is_changed[at]) changed.emplace_back(category, sums_[at]);
  }
  return changed;
}

uint32_t BandSteps::bounded_process_count() const {
  return static_cast<uint32_t>(bounded_.size());
}

}  // namespace tidemark::store
