#include "watch/capture_schedule.h"

#include <algorithm>

namespace tidemark::watch {
namespace {

constexpr uint64_t kPermille = 1000;
// Growth of less than this between two looks is standing still.
constexpr uint64_t kStillPermille = 2;
// And a picture that adds less than this is not worth taking.
constexpr uint64_t kWorthPermille = 4;

uint64_t share(uint64_t whole, uint64_t permille) {
  return whole / kPermille * permille +
         whole % kPermille * permille / kPermille;
}

}  // namespace

CaptureSchedule::CaptureSchedule(uint64_t start_ns, CaptureBudget budget)
    : start_ns_(start_ns), budget_(budget) {}

bool CaptureSchedule::is_affordable(uint64_t now_ns,
                                    uint64_t height_bytes) const {
  // Twice the memory takes twice the time; below 1 MiB the fixed part counts.
  constexpr uint64_t kFixedPartBytes = uint64_t{1} << 20;
  const uint64_t last = std::max(last_height_bytes_, kFixedPartBytes);
  const uint64_t next = std::max(height_bytes, kFixedPartBytes);
  const double expected = static_cast<double>(last_cost_ns_) *
                          static_cast<double>(next) / static_cast<double>(last);
  const uint64_t allowed =
      budget_.allowance_ns + share(now_ns - start_ns_, budget_.share_permille);
  return spent_ns_ + static_cast<uint64_t>(expected) <= allowed;
}

bool CaptureSchedule::is_worth_it(uint64_t height_bytes) const {
  return height_bytes >
         captured_bytes_ + share(captured_bytes_, kWorthPermille);
}

bool CaptureSchedule::crossed(uint64_t now_ns, uint64_t height_bytes) {
  looked_bytes_ = height_bytes;
  next_look_ns_ = now_ns + budget_.settle_ns;
  return is_worth_it(height_bytes) && is_affordable(now_ns, height_bytes);
}

bool CaptureSchedule::looked(uint64_t now_ns, uint64_t height_bytes) {
  const uint64_t before = looked_bytes_;
  looked_bytes_ = height_bytes;
  if (!is_worth_it(height_bytes)) {
    next_look_ns_.reset();
    return false;
  }
  next_look_ns_ = now_ns + budget_.settle_ns;
  const bool is_still = height_bytes <= before + share(before, kStillPermille);
  const uint64_t next_step =
      captured_bytes_ + share(captured_bytes_, budget_.coarse_step_permille);
  // A picture that could not be paid for at the mark is owed all the same.
  return (is_still || height_bytes > next_step) &&
         is_affordable(now_ns, height_bytes);
}

void CaptureSchedule::captured(uint64_t started_ns, uint64_t ended_ns,
                               uint64_t height_bytes) {
  last_cost_ns_ = ended_ns - started_ns;
  last_height_bytes_ = height_bytes;
  spent_ns_ += last_cost_ns_;
  captured_bytes_ = std::max(captured_bytes_, height_bytes);
  looked_bytes_ = std::max(looked_bytes_, height_bytes);
  next_look_ns_ = ended_ns + budget_.settle_ns;
}

uint64_t CaptureSchedule::step_permille(uint64_t now_ns) const {
  const uint64_t allowed =
      budget_.allowance_ns + share(now_ns - start_ns_, budget_.share_permille);
  return spent_ns_ <= allowed / 2 ? budget_.fine_step_permille
                                  : budget_.coarse_step_permille;
}

}  // namespace tidemark::watch
