#include "watch/capture_schedule.h"

#include <algorithm>

namespace tidemark::watch {
namespace {

constexpr uint64_t kPermille = 1000;
// Growth of less than this between two looks is standing still.
constexpr uint64_t kStillPermille = 2;
constexpr uint64_t kMuchPermille = 50;
// And a picture that adds less than this is not worth taking.
constexpr uint64_t kWorthPermille = 4;

uint64_t share(uint64_t whole, uint64_t permille) {
  return whole / kPermille * permille +
         whole % kPermille * permille / kPermille;
}

}  // namespace

CaptureSchedule::CaptureSchedule(uint64_t start_ns, CaptureBudget budget)
    : start_ns_(start_ns), budget_(budget) {}

uint64_t CaptureSchedule::Price::expected_ns(uint64_t height) const {
  const uint64_t added = height - std::min(height, height_bytes);
  return cost_ns + added / bytes_per_ns;
}

// The best that can be had while as much as `reserve` times its price remains.
// A full picture must be cheap for that, or rare: a quick one does nearly as
// well until the height has doubled.
Picture CaptureSchedule::affordable(uint64_t left, uint64_t height_bytes,
                                    uint64_t reserve) const {
  const uint64_t full = full_.expected_ns(height_bytes);
  const bool has_doubled = height_bytes / 2 >= full_.height_bytes;
  constexpr uint64_t kCheap = 8;
  const uint64_t full_reserve =
      has_quick_ && !has_doubled ? std::max(reserve, kCheap) : reserve;
  if (full * full_reserve <= left) return Picture::Full;
  if (has_quick_ && quick_.expected_ns(height_bytes) * reserve <= left) {
    return Picture::Quick;
  }
  return Picture::None;
}

// With what may be owed, or without.
uint64_t CaptureSchedule::unspent_ns(uint64_t now_ns,
                                     uint64_t credit_ns) const {
  const uint64_t allowed =
      credit_ns + std::max(budget_.allowance_ns,
                           share(now_ns - start_ns_, budget_.share_permille));
  return allowed - std::min(allowed, spent_ns_);
}

bool CaptureSchedule::is_worth_it(uint64_t height_bytes) const {
  return height_bytes >
         captured_bytes_ + share(captured_bytes_, kWorthPermille);
}

Picture CaptureSchedule::crossed(uint64_t now_ns, uint64_t height_bytes) {
  looked_bytes_ = height_bytes;
  next_look_ns_ = now_ns + budget_.settle_ns;
  if (!is_worth_it(height_bytes)) return Picture::None;
  // What is left must also pay for the picture when growth has stopped.
  return affordable(unspent_ns(now_ns), height_bytes, 2);
}

Picture CaptureSchedule::looked(uint64_t now_ns, uint64_t height_bytes) {
  const uint64_t before = looked_bytes_;
  looked_bytes_ = height_bytes;
  if (!is_worth_it(height_bytes)) {
    next_look_ns_.reset();
    return Picture::None;
  }
  next_look_ns_ = now_ns + budget_.settle_ns;
  // What is being given back is out of the mappings before it is out of the
  // charge: nothing to be seen until that is over.
  if (height_bytes + share(before, kStillPermille) < before) {
    return Picture::None;
  }
  const bool is_still = height_bytes <= before + share(before, kStillPermille);
  const bool is_owed =
      height_bytes >
      captured_bytes_ + share(captured_bytes_, step_permille(now_ns));
  const uint64_t left = unspent_ns(now_ns);
  if (is_still) {
    // Where pictures are slow, those of the way up have used up the budget when
    // the top is reached; one that much higher is worth a debt.
    const bool is_much =
        height_bytes > captured_bytes_ + share(captured_bytes_, kMuchPermille);
    return affordable(unspent_ns(now_ns, is_much ? budget_.credit_ns : 0),
                      height_bytes, 1);
  }
  // A picture that could not be paid for at the mark is owed all the same.
  return is_owed ? affordable(left, height_bytes, 2) : Picture::None;
}

void CaptureSchedule::captured(Picture picture, uint64_t cost_ns,
                               uint64_t now_ns, uint64_t height_bytes) {
  Price& price = picture == Picture::Quick ? quick_ : full_;
  price.cost_ns = cost_ns;
  price.height_bytes = height_bytes;
  spent_ns_ += cost_ns;
  captured_bytes_ = std::max(captured_bytes_, height_bytes);
  looked_bytes_ = std::max(looked_bytes_, height_bytes);
  next_look_ns_ = now_ns + budget_.settle_ns;
}

// Doubling takes ln 2 / step pictures of one and a half times the last one's
// cost on average. Half of what is left is kept for when growth has stopped.
uint64_t CaptureSchedule::step_permille(uint64_t now_ns) const {
  const uint64_t left = std::max<uint64_t>(unspent_ns(now_ns) / 2, 1);
  constexpr double kDoubling = 1.04 * kPermille;
  const uint64_t full = full_.expected_ns(captured_bytes_);
  const uint64_t cost =
      has_quick_ ? std::min(full, quick_.expected_ns(captured_bytes_)) : full;
  const double step =
      kDoubling * static_cast<double>(cost) / static_cast<double>(left);
  return std::clamp(
      static_cast<uint64_t>(std::min(step, static_cast<double>(kPermille))),
      budget_.least_step_permille, budget_.most_step_permille);
}

}  // namespace tidemark::watch
