// How much is asked of the kernel about stacks of programs, by what those that
// came have shown: how often, and how deep.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <bpf/user.h>

namespace tidemark::source {

// How many samples a second may be told of, so that unwinding takes a tenth of
// a CPU: of all the time that has passed, or of the first quarter of a second
// while that lasts. Files of programs are read for the first samples; that is
// part of it, so fewer follow then, but no measure of what those will cost.
class UnwindingBudget {
 public:
  void spent(uint64_t ns) {
    total_ns_ += ns;
    recent_ns_ += std::min(ns, kLongestNs);
    constexpr uint64_t kMany = 512;
    if (++recent_count_ < kMany) return;
    recent_ns_ /= 2;
    recent_count_ /= 2;
  }
  // For no sample: what is mapped was read.
  void spent_on_files(uint64_t ns) { total_ns_ += ns; }
  // What is left may be asked for within as short a time, so that what was
  // spent does not pass the share but by what is under way and the least.
  uint64_t samples_per_second(uint64_t elapsed_ns) const {
    const uint64_t allowed_ns =
        std::max(elapsed_ns / 1000, uint64_t{1'000'000} / kBeginnings) *
        (kSecondNs / 1'000'000);
    const uint64_t left_ns =
        std::min(allowed_ns - std::min(allowed_ns, total_ns_), kSecondNs) *
        kBeginnings;
    const uint64_t mean_ns = std::max(recent_ns_ / recent_count_, uint64_t{1});
    return std::clamp(std::clamp(left_ns, kLeastNs, kSecondNs) / mean_ns,
                      kFewest, kMost);
  }
  uint64_t total_ns() const { return total_ns_; }

 private:
  // Of each second. The least, and what is under way when it is spent, are the
  // rest of the tenth.
  static constexpr uint64_t kSecondNs = 80'000'000;
  static constexpr uint64_t kBeginnings = 4;  // that a second has
  // Whatever was spent: where files take it all, as they do while many run, a
  // sample of next to nothing would tell nothing of the first second.
  static constexpr uint64_t kLeastNs = 10'000'000;
  static constexpr uint64_t kFewest = 100;
  static constexpr uint64_t kMost = 4000;
  // Of a sample itself; beyond that it is files.
  static constexpr uint64_t kLongestNs = 200'000;
  uint64_t total_ns_ = 0;
  // As if some had come: what a stack takes on most machines.
  uint64_t recent_count_ = 64;
  uint64_t recent_ns_ = 64 * kSecondNs / kMost;
};

// How much of the stacks of a process is worth copying: a step more than was
// needed of any of late.
class StackDepth {
 public:
  // The steps to copy from here on, when there is something new to say.
  std::optional<uint32_t> learn(size_t used_bytes, bool is_whole) {
    needed_ = std::max(needed_, is_whole ? used_bytes / TM_USER_STEP_BYTES + 2
                                         : size_t{TM_USER_STEPS});
    constexpr uint32_t kEnough = 4 * TM_USER_WHOLE_EVERY;
    const bool is_time = ++count_ % kEnough == 0;
    const auto steps =
        static_cast<uint32_t>(std::min<size_t>(needed_, TM_USER_STEPS));
    if (is_time) needed_ = 0;
    if (steps == told_ || (!is_time && steps < told_)) return std::nullopt;
    told_ = steps;
    return steps;
  }

 private:
  size_t needed_ = 0;
  uint32_t count_ = 0;
  uint32_t told_ = TM_USER_STEPS;  // 0 there
};

}  // namespace tidemark::source
