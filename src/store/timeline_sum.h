// Sums per tick over processes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/number_map.h"
#include "model/category.h"
#include "model/recording.h"
#include "model/region.h"
#include "model/rollup.h"
#include "model/timeline.h"
#include "store/change_walk.h"

namespace tidemark::store {

// The kernel's own counters, which are told for each process.
class CounterSum {
 public:
  explicit CounterSum(const std::vector<model::RecordedTick>& ticks);

  void set_end(int64_t process, int64_t tick);
  // By process in order of ticks.
  void set_resident(int64_t process, int64_t tick, int64_t bytes);
  void set_alive(int64_t process, int64_t tick, bool has_memory);
  // After the last: resident_bytes and process_count of each point.
  void fill(std::vector<model::TimelinePoint>& points);

 private:
  struct ProcessState {
    int64_t resident_bytes = 0;
    bool is_alive = false;
    std::optional<int64_t> end;
  };
  size_t index_of(int64_t tick) const;

  std::vector<int64_t> ticks_;
  base::NumberMap<ProcessState> processes_;
  std::vector<int64_t> resident_deltas_;
  std::vector<int64_t> alive_deltas_;
};

// The timeline of all processes from sums per category, a row where one
// changed.
class CategoryTimeline {
 public:
  explicit CategoryTimeline(const std::vector<model::RecordedTick>& ticks);
  // In order of ticks.
  void set(int64_t tick, model::Category category,
           const model::BandShares& shares);
  model::Timeline take();

 private:
  void advance(int64_t tick);

  model::Timeline timeline_;
  size_t next_point_ = 0;
  model::TimelinePoint sums_;
  std::array<model::BandShares, model::kCategoryCount> shares_{};
};

// Goes through bands of processes tick by tick.
class BandSteps {
 public:
  explicit BandSteps(const std::vector<model::Band>& bands);

  // The sums of the categories that changed at the tick, by its index, which
  // only rises.
  std::vector<std::pair<model::Category, model::BandShares>> changed_at(
      size_t tick_index);
  // Of how many processes some memory has no more than a bound there.
  uint32_t bounded_process_count() const;

 private:
  struct Step {
    size_t tick_index = 0;
    const model::Band* band = nullptr;
    model::BandShares before;
    const model::BandShares* now = nullptr;
  };
  std::vector<Step> steps_;  // in order
  size_t next_ = 0;
  std::array<model::BandShares, model::kCategoryCount> sums_{};
  std::map<int64_t, uint32_t> bounded_;  // bands by process; none of zero
};

}  // namespace tidemark::store
