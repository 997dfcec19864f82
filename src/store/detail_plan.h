// When the mappings of one process were read: a plan (each so many ticks) and
// the exceptions to it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/process.h"

namespace tidemark::store {

struct DetailReading {
  int64_t tick = 0;
  model::DetailTier tier = model::DetailTier::Full;
  bool operator==(const DetailReading&) const = default;
};

class DetailPlan {
 public:
  // In order of ticks, as the table holds them. What no writer has written is
  // left out: a damaged file may say anything.
  void add(int64_t tick, model::DetailTier tier, int64_t step) {
    const bool is_sane =
        tick >= 0 && tick <= kMostTicks && step >= 0 && step <= kMostTicks;
    if (is_sane) rows_.push_back({tick, tier, step});
  }
  // The last reading at or before the tick.
  std::optional<DetailReading> last(int64_t tick) const;

 private:
  // More than any recording has, and sums of them are numbers.
  static constexpr int64_t kMostTicks = int64_t{1} << 48;
  struct Row {
    int64_t tick = 0;
    model::DetailTier tier = model::DetailTier::Full;
    // 0: an exception at this tick alone. A plan of the tier Counters: it is
    // not read from here on.
    int64_t step = 1;
  };
  const Row* exception_at(int64_t tick) const;

  std::vector<Row> rows_;
};

}  // namespace tidemark::store
