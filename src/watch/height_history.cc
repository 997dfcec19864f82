#include "watch/height_history.h"

#include <algorithm>

namespace tidemark::watch {

HeightHistory::HeightHistory(uint64_t start_ns, uint64_t stretch_ns,
                             size_t point_limit)
    : start_ns_(start_ns), stretch_ns_(stretch_ns), point_limit_(point_limit) {}

void HeightHistory::add(uint64_t time_ns, uint64_t bytes) {
  const uint64_t since = time_ns > start_ns_ ? time_ns - start_ns_ : 0;
  while (since / stretch_ns_ >= point_limit_)
    join_neighbours();
  const size_t index = since / stretch_ns_;
  if (index >= stretches_.size()) stretches_.resize(index + 1);
  Stretch& stretch = stretches_[index];
  stretch.bytes = std::max(stretch.bytes, bytes);
  stretch.is_seen = true;
}

void HeightHistory::join_neighbours() {
  std::vector<Stretch> joined((stretches_.size() + 1) / 2);
  for (size_t i = 0; i < stretches_.size(); ++i) {
    Stretch& into = joined[i / 2];
    into.bytes = std::max(into.bytes, stretches_[i].bytes);
    into.is_seen = into.is_seen || stretches_[i].is_seen;
  }
  stretches_ = std::move(joined);
  stretch_ns_ *= 2;
}

std::vector<model::HeightPoint> HeightHistory::points() const {
  std::vector<model::HeightPoint> list;
  for (size_t i = 0; i < stretches_.size(); ++i) {
    if (!stretches_[i].is_seen) continue;
    list.push_back(
        {start_ns_ + i * stretch_ns_ + stretch_ns_ / 2, stretches_[i].bytes});
  }
  return list;
}

}  // namespace tidemark::watch
