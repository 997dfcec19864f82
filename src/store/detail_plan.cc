#include "store/detail_plan.h"

#include <algorithm>

namespace tidemark::store {

using model::DetailTier;

const DetailPlan::Row* DetailPlan::exception_at(int64_t tick) const {
  auto found = std::ranges::lower_bound(rows_, tick, {}, &Row::tick);
  const bool is_one =
      found != rows_.end() && found->tick == tick && found->step == 0;
  return is_one ? &*found : nullptr;
}

std::optional<DetailReading> DetailPlan::last(int64_t tick) const {
  auto row = std::ranges::upper_bound(rows_, tick, {}, &Row::tick);
  int64_t until = std::min(tick, kMostTicks);  // of the plan in force
  std::optional<DetailReading> extra;
  while (row != rows_.begin()) {
    --row;
    if (row->step == 0) {
      const bool was_read = row->tier != DetailTier::Counters;
      if (was_read && !extra) extra = DetailReading{row->tick, row->tier};
      continue;
    }
    if (row->tier == DetailTier::Counters) {  // not read from here on
      if (extra) return extra;
      until = row->tick - 1;
      continue;
    }
    int64_t due = row->tick + (until - row->tick) / row->step * row->step;
    // Skips the times it was due and not read.
    while (due >= row->tick && exception_at(due) != nullptr &&
           exception_at(due)->tier == DetailTier::Counters) {
      due -= row->step;
    }
    if (due >= row->tick && (!extra || due > extra->tick)) {
      return DetailReading{due, row->tier};
    }
    if (extra && extra->tick >= row->tick) return extra;
    until = row->tick - 1;
  }
  return extra;
}

}  // namespace tidemark::store
