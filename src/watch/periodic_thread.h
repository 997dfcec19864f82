// Work on a clock in a thread of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace tidemark::watch {

struct PeriodicOptions {
  uint64_t period_ns = 1'000'000'000;
  // Of a core at most, where the work takes long: ticks are then left out and
  // counted.
  double most_share = 1;
  bool begins_at_once = true;  // else after the first period
};

class PeriodicThread {
 public:
  PeriodicThread(const PeriodicOptions& options, std::function<void()> work);
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;
  ~PeriodicThread();  // waits for the work under way

  uint64_t missed_count() const { return missed_count_; }
  // Between the last two ticks.
  uint64_t kept_period_ns() const { return kept_period_ns_; }

 private:
  void run();
  bool wait_until(uint64_t monotonic_ns);  // false at the end

  PeriodicOptions options_;
  std::function<void()> work_;
  std::atomic<uint64_t> missed_count_{0};
  std::atomic<uint64_t> kept_period_ns_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace tidemark::watch
