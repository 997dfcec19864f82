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
  // In order of ticks, as the table holds them.
  void add(int64_t tick, model::DetailTier tier, int64_t step) {
    rows_.push_back({tick, tier, step});
  }
  // The last reading at or before the tick.
  std::optional<DetailReading> last(int64_t tick) const;

 private:
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
