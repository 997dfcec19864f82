// The shape of a run in a bounded number of points: the highest value of each
// stretch of time. When there are too many, neighbours are joined and stretches
// become twice as long, so a run of a second and one of a week both fit.
#pragma once

#include <cstdint>
#include <vector>

#include "model/run.h"

namespace tidemark::watch {

class HeightHistory {
 public:
  HeightHistory(uint64_t start_ns, uint64_t stretch_ns, size_t point_limit);

  void add(uint64_t time_ns, uint64_t bytes);
  // How often a new value is worth reading.
  uint64_t stretch_ns() const { return stretch_ns_; }
  // Each at the middle of its stretch; stretches nobody looked at are left out.
  std::vector<model::HeightPoint> points() const;

 private:
  void join_neighbours();

  uint64_t start_ns_;
  uint64_t stretch_ns_;
  size_t point_limit_;
  struct Stretch {
    uint64_t bytes = 0;
    bool is_seen = false;
  };
  std::vector<Stretch> stretches_;
};

}  // namespace tidemark::watch
