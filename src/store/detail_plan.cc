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

// What the plan in force has had read up to the tick, but for what was left
// out: all before that is known already.
void DetailCursor::take_due(int64_t tick) {
  if (in_force_ == nullptr || tick < in_force_->tick) return;
  const int64_t due = in_force_->tick + (tick - in_force_->tick) /
                                            in_force_->step * in_force_->step;
  if (due != left_out_) last_ = std::max(last_.value_or(due), due);
}

std::optional<int64_t> DetailCursor::last(int64_t tick) {
  tick = std::min(tick, DetailPlan::kMostTicks);
  for (; next_row_ < plan_->rows_.size(); ++next_row_) {
    const DetailPlan::Row& row = plan_->rows_[next_row_];
    if (row.tick > tick) break;
    take_due(row.tick - 1);
    const bool is_read = row.tier != DetailTier::Counters;
    if (is_read) {
      last_ = row.tick;
    } else {
      left_out_ = row.tick;
    }
    if (row.step > 0) in_force_ = is_read ? &row : nullptr;
  }
  take_due(tick);
  return last_;
}

}  // namespace tidemark::store
