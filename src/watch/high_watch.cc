#include "watch/high_watch.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace tidemark::watch {

HighWatch::HighWatch(source::TreeFollower follower)
    : follower_(std::move(follower)), schedule_(base::monotonic_ns(), {}) {}

base::Result<HighWatch> HighWatch::start(const std::vector<int32_t>& pids,
                                         bool with_descendants) {
  source::FollowOptions options;
  options.with_descendants = with_descendants;
  base::Result<source::TreeFollower> follower =
      source::TreeFollower::start(options);
  if (!follower) return follower.error();
  base::Status status = follower->adopt(pids);
  if (!status) return status.error();
  HighWatch watch(std::move(*follower));
  const uint64_t rss = watch.follower_.heights().rss_bytes;
  constexpr uint64_t kFirstStep = 40;  // the smallest step, 2.5 %
  watch.follower_.set_mark(rss + rss / kFirstStep);
  return watch;
}

bool HighWatch::is_due() {
  uint64_t crossed_bytes = 0;
  follower_.drain(
      [&](const source::NewHigh& high) {
        crossed_bytes = std::max(crossed_bytes, high.bytes);
      },
      [](const model::ProcessLife&) {});
  if (crossed_bytes == 0) return false;
  return schedule_.crossed(base::monotonic_ns(), crossed_bytes) !=
         Picture::None;
}

void HighWatch::sampled(uint64_t cost_ns) {
  const uint64_t now = base::monotonic_ns();
  schedule_.captured(Picture::Full, cost_ns, now,
                     follower_.heights().rss_bytes);
  follower_.set_step_permille(schedule_.step_permille(now));
}

uint64_t HighWatch::highest_rss_bytes() const {
  return follower_.heights().highest_rss_bytes;
}

}  // namespace tidemark::watch
