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
// a CPU, by what it took of late.
class UnwindingBudget {
 public:
  void spent(uint64_t ns) {
    total_ns_ += ns;
    recent_ns_ += ns;
    constexpr uint64_t kMany = 512;
    if (++recent_count_ < kMany) return;
    recent_ns_ /= 2;
    recent_count_ /= 2;
  }
  // Reading the files of a program comes once, and is no measure of what
  // follows.
  uint64_t samples_per_second() const {
    constexpr uint64_t kShareNs = 100'000'000;  // of each second
    constexpr uint64_t kFilesNs = 100'000'000;
    if (total_ns_ < kFilesNs || recent_ns_ == 0) return kMost;
    return std::clamp(kShareNs * recent_count_ / recent_ns_, kFewest, kMost);
  }
  uint64_t total_ns() const { return total_ns_; }

 private:
  static constexpr uint64_t kFewest = 100;
  static constexpr uint64_t kMost = 4000;
  uint64_t total_ns_ = 0;
  uint64_t recent_ns_ = 0;
  uint64_t recent_count_ = 0;
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
