// Wakes a sampler of running processes when their memory reaches a new high, so
// that what happens between two ticks is not missed. Needs BPF.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "source/bpf/tree_follower.h"
#include "watch/capture_schedule.h"

namespace tidemark::watch {

class HighWatch {
 public:
  // Descendants are those forked from now on; who lives already must be among
  // the pids.
  static base::Result<HighWatch> start(const std::vector<int32_t>& pids,
                                       bool with_descendants);

  // Readable when it may be time; is_due() decides, within a budget.
  int fd() const { return follower_.wake_fd(); }
  bool is_due();
  // A sample was taken and took that long.
  void sampled(uint64_t cost_ns);

  // The highest sum of RSS so far, counted at every change.
  uint64_t highest_rss_bytes() const;

 private:
  explicit HighWatch(source::TreeFollower follower);

  source::TreeFollower follower_;
  CaptureSchedule schedule_;
};

}  // namespace tidemark::watch
