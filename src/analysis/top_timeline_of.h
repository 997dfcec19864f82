// Whose memory the timeline of `top` is made of.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/process.h"

namespace tidemark::analysis {

// All processes, unless something is said: one that is followed, or those that
// a filter means.
struct TopTimelineOf {
  std::string filter;  // as typed
  // Those meant, sorted by pid. A filter may mean none.
  std::vector<model::ProcessId> processes;

  bool is_all() const { return filter.empty() && processes.empty(); }
  bool has(const model::ProcessId& process) const {
    if (is_all()) return true;
    auto at = std::ranges::lower_bound(processes, process.pid, {},
                                       &model::ProcessId::pid);
    for (; at != processes.end() && at->pid == process.pid; ++at) {
      if (*at == process) return true;
    }
    return false;
  }
  // Whether it means the same, though others may have come to be meant.
  bool is_same_wish(const TopTimelineOf& other) const {
    return filter == other.filter &&
           (!filter.empty() || processes == other.processes);
  }
  bool operator==(const TopTimelineOf&) const = default;
};

}  // namespace tidemark::analysis
