#include "watch/periodic_thread.h"

#include <chrono>
#include <utility>

#include "base/clock.h"
#include "watch/loop.h"

namespace tidemark::watch {

PeriodicThread::PeriodicThread(const PeriodicOptions& options,
                               std::function<void()> work)
    : options_(options),
      work_(std::move(work)),
      kept_period_ns_(options.period_ns),
      thread_([this] { run(); }) {}

PeriodicThread::~PeriodicThread() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool PeriodicThread::wait_until(uint64_t monotonic_ns) {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    const uint64_t now = base::monotonic_ns();
    if (now >= monotonic_ns) return true;
    changed_.wait_for(lock, std::chrono::nanoseconds(monotonic_ns - now));
  }
  return false;
}

void PeriodicThread::run() {
  const uint64_t start = base::monotonic_ns();
  Ticker ticker(start + (options_.begins_at_once ? 0 : options_.period_ns),
                options_.period_ns);
  uint64_t earliest = start;
  uint64_t last_due = 0;
  while (true) {
    const Ticker::Tick tick = ticker.next(earliest);
    missed_count_ += tick.missed_count;
    if (!wait_until(tick.due_ns)) return;
    if (last_due != 0) kept_period_ns_ = tick.due_ns - last_due;
    last_due = tick.due_ns;
    const uint64_t begun_cpu = base::thread_cpu_ns();
    work_();
    const auto cost_ns = static_cast<double>(base::thread_cpu_ns() - begun_cpu);
    const double rest_ns = cost_ns * (1 / options_.most_share - 1);
    earliest = base::monotonic_ns() + static_cast<uint64_t>(rest_ns);
  }
}

}  // namespace tidemark::watch
