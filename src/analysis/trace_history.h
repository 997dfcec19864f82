// What the leaves of a running trace held at earlier moments.
//
// It reaches back to the begin of the trace however long that is: when there
// are too many points, every other is left out, and the next come half as
// often.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/trace.h"

namespace tidemark::analysis {

// Parallel to the leaves of the trace it came with.
struct TraceHistory {
  std::vector<uint64_t> times_ns;  // since the trace began, rising
  // One leaf after the other, as many each as there are times.
  std::vector<uint32_t> pages;
  std::vector<uint64_t> before_pages;  // in the reading before
  uint64_t before_ns = 0;              // when that was; 0: this is the first
  // All leaves together, which many more points are kept of.
  std::vector<uint64_t> total_pages;
};

class TraceHistoryKeeper {
 public:
  // Leaves are known again by their task and their stack, whatever their
  // indices. One that the trace no longer has is forgotten.
  std::shared_ptr<const TraceHistory> add(const model::Trace& trace);

 private:
  void take_point(const model::Trace& trace, const TraceHistory& old,
                  const std::vector<size_t>& places, TraceHistory& made);
  void add_total(const model::Trace& trace);

  // Shared with the snapshots that are drawn.
  std::shared_ptr<const TraceHistory> last_;
  std::unordered_map<uint64_t, size_t> known_;  // where in the last it is
  std::vector<uint64_t> last_pages_;            // of each leaf then
  uint64_t last_ns_ = 0;
  uint64_t step_ns_ = 1'000'000'000;
  uint64_t total_step_ns_ = 1'000'000'000;
  uint64_t total_due_ns_ = 0;
  std::vector<uint64_t> total_pages_;
};

}  // namespace tidemark::analysis
