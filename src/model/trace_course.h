// What the tasks of a recorded trace held over time, without their stacks.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace tidemark::model {

struct TraceCourse {
  struct Change {
    uint32_t task = 0;  // index into the tasks
    uint64_t pages = 0;
    bool operator==(const Change&) const = default;
  };
  // One reading: the sum, and the tasks that hold another number of pages than
  // at the one before.
  struct Step {
    int64_t tick = 0;
    uint64_t pages = 0;
    std::vector<Change> changes;
    bool operator==(const Step&) const = default;
  };
  uint64_t page_size_bytes = 4096;
  std::vector<TraceTask> tasks;  // as they were called last; without pages
  std::vector<Step> steps;       // in order of time
  bool operator==(const TraceCourse&) const = default;
};

}  // namespace tidemark::model
