// What memory-watcher lists of the whole machine, for its listing: the lines of
// meminfo it keeps, its estimate of what else the kernel holds, and processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/peak_report.h"
#include "model/sample.h"

namespace tidemark::analysis {

struct WatcherProcess {
  int32_t pid = 0;
  std::string name;
  std::optional<uint64_t> bytes;  // empty: it was not read
  std::optional<int64_t> oom_adj;
  std::optional<int64_t> oom_score;
  std::optional<int64_t> oom_score_adj;
  bool operator==(const WatcherProcess&) const = default;
};

struct WatcherMachine {
  model::MemInfo meminfo;
  std::optional<uint64_t> slab_bytes;
  // Below zero where pages are counted twice: what several processes map, or
  // processes that the recording does not know.
  std::optional<int64_t> other_kernel_bytes;
  std::optional<uint64_t> available_computed_bytes;
  std::vector<WatcherProcess> processes;  // largest first
  uint64_t sum_bytes = 0;
};

// `metric`: of the processes, so none of the machine's.
WatcherMachine watcher_machine(const model::Sample& sample,
                               uint64_t page_size_bytes, PeakMetric metric);

}  // namespace tidemark::analysis
