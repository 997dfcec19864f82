// Follows a tree of processes inside the kernel (bpf/tree.bpf.c): wakes us when
// the height of its memory passes a mark, and tells of every process that
// ended, with its true peak. Everything goes away with this object, and with
// us.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "model/run.h"

namespace tidemark::source {

struct FollowOptions {
  // The height is what the control group of the first exec'ed process is
  // charged; otherwise the sum of the resident pages.
  bool height_is_charge = false;
  // The process that passes a mark is stopped (SIGSTOP) on the spot.
  bool stops_at_crossing = false;
  // Looks at every page allocation of the machine, so that page cache passes
  // marks too.
  bool sees_page_cache = false;
  bool with_descendants = true;
  // Lets the kernel time the programs; costs a little itself.
  bool times_itself = false;
};

struct NewHigh {
  uint64_t time_ns = 0;  // monotonic
  uint64_t bytes = 0;
  int32_t stopped_pid = 0;  // 0 when nobody was
};

struct Heights {
  uint64_t highest_bytes = 0;
  uint64_t highest_ns = 0;  // monotonic
  uint64_t rss_bytes = 0;   // sum over the tree now
  uint64_t highest_rss_bytes = 0;
  uint64_t highest_rss_ns = 0;
  uint64_t process_count = 0;  // ever
  uint64_t lost_count = 0;     // processes without a record
  // Processes that the group was not charged for, ever; and what they hold now,
  // roughly.
  uint64_t left_count = 0;
  uint64_t outside_bytes = 0;
};

struct LivingProcess {
  model::ProcessLife life;
  uint64_t rss_bytes = 0;
};

class TreeFollower {
 public:
  // Denied without the rights, Unsupported where the kernel or this build lacks
  // what it takes.
  static base::Result<TreeFollower> start(const FollowOptions& options);
  TreeFollower(TreeFollower&&) noexcept;
  TreeFollower& operator=(TreeFollower&&) noexcept;
  TreeFollower(const TreeFollower&) = delete;
  TreeFollower& operator=(const TreeFollower&) = delete;
  ~TreeFollower();

  // The next process we fork is the root.
  void adopt_next_child();
  // Processes that run already, without their descendants of before.
  base::Status adopt(const std::vector<int32_t>& pids);

  // Readable when a mark was passed.
  int wake_fd() const;
  // Hands over what has come in.
  void drain(const std::function<void(const NewHigh&)>& new_high,
             const std::function<void(model::ProcessLife)>& ended);

  // The next wake-up is at this height; the ones after it follow in steps.
  void set_mark(uint64_t bytes);
  void set_step_permille(uint64_t permille);

  Heights heights() const;
  std::vector<LivingProcess> living() const;
  // How far the peak of a process above 64 MiB may be off: its counters are
  // summed once a batch.
  uint64_t peak_error_bytes() const;
  // Run time of the programs so far, when timing was asked for.
  std::optional<uint64_t> program_ns() const;

 private:
  struct State;
  explicit TreeFollower(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::source
