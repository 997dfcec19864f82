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
  friend class DetailCursor;
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

// The same asked tick after tick, however many exceptions there are.
class DetailCursor {
 public:
  explicit DetailCursor(const DetailPlan& plan) : plan_(&plan) {}

  // The tick of the last reading at or before it; ticks may not fall.
  std::optional<int64_t> last(int64_t tick);

 private:
  void take_due(int64_t tick);

  const DetailPlan* plan_;
  size_t next_row_ = 0;
  const DetailPlan::Row* in_force_ = nullptr;
  std::optional<int64_t> left_out_;
  std::optional<int64_t> last_;
};

}  // namespace tidemark::store
