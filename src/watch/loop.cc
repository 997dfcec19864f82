#include "watch/loop.h"

#include <algorithm>
#include <utility>

namespace tidemark::watch {
namespace {

class Ticks {
 public:
  Ticks(model::Source& source, model::Sink& sink, const LoopClock& clock)
      : source_(source), sink_(sink), clock_(clock) {}

  base::Result<LoopResult> run(const LoopOptions& options) {
    Ticker ticker(clock_.now_ns(), options.period_ns, options.duration_ns);
    while (!ticker.is_over() &&
           (!options.count || result_.tick_count < *options.count)) {
      const Ticker::Tick tick = ticker.next(clock_.now_ns());
      result_.missed_count += tick.missed_count;
      base::Result<bool> goes_on = take_tick(tick.due_ns);
      if (!goes_on) return goes_on.error();
      if (!*goes_on) break;
    }
    return result_;
  }

 private:
  // False when there is nothing more to come.
  base::Result<bool> take_tick(uint64_t due_ns) {
    WaitEnd end = clock_.wait_until(due_ns);
    while (end == WaitEnd::Wake) {
      base::Result<bool> goes_on = take_sample(true);
      if (!goes_on || !*goes_on) return goes_on;
      ++result_.woken_count;
      end = clock_.wait_until(due_ns);
    }
    if (end == WaitEnd::Stop) {
      result_.end = LoopEnd::Stopped;
      return false;
    }
    base::Result<bool> goes_on = take_sample(false);
    if (goes_on && *goes_on) ++result_.tick_count;
    return goes_on;
  }

  base::Result<bool> take_sample(bool is_new_high) {
    base::Status status = source_.collect(sample_);
    if (!status && status.error().kind == base::ErrorKind::Gone) {
      result_.end = LoopEnd::TargetGone;
      result_.gone = status.error();
      return false;
    }
    sample_.is_new_high = is_new_high;
    if (status) status = sink_.accept(sample_);
    if (!status) return status.error();
    return true;
  }

  model::Source& source_;
  model::Sink& sink_;
  const LoopClock& clock_;
  model::Sample sample_;
  LoopResult result_;
};

}  // namespace

Ticker::Ticker(uint64_t start_ns, uint64_t period_ns,
               std::optional<uint64_t> duration_ns)
    : start_ns_(start_ns), period_ns_(period_ns), duration_ns_(duration_ns) {}

Ticker::Tick Ticker::next(uint64_t now_ns) {
  Tick tick;
  const uint64_t passed = now_ns > start_ns_ ? now_ns - start_ns_ : 0;
  // A tick is missed once the one after it is due as well.
  uint64_t current = passed / period_ns_;
  if (duration_ns_ && passed >= *duration_ns_) {
    current = (*duration_ns_ + period_ns_ - 1) / period_ns_;
  }
  if (current > next_index_) {
    tick.missed_count = current - next_index_;
    tick.first_missed_ns = start_ns_ + next_index_ * period_ns_;
    next_index_ = current;
  }
  uint64_t since_start_ns = next_index_ * period_ns_;
  if (duration_ns_ && since_start_ns >= *duration_ns_) {
    since_start_ns = *duration_ns_;
    is_over_ = true;
  }
  tick.due_ns = start_ns_ + since_start_ns;
  ++next_index_;
  return tick;
}

std::vector<model::MissedTick> missed_ticks(const Ticker::Tick& tick,
                                            uint64_t period_ns) {
  constexpr uint64_t kMostRows = 100;
  std::vector<model::MissedTick> missed;
  const uint64_t rows = std::min(tick.missed_count, kMostRows);
  for (uint64_t i = 0; i < rows; ++i) {
    missed.push_back({tick.first_missed_ns + i * period_ns,
                      i + 1 == rows ? tick.missed_count - i : 1,
                      "reading took longer than the interval"});
  }
  return missed;
}

base::Result<LoopResult> run_loop(model::Source& source, model::Sink& sink,
                                  const LoopOptions& options,
                                  const LoopClock& clock) {
  base::Result<LoopResult> result = Ticks(source, sink, clock).run(options);
  base::Status finished = sink.finish();
  if (result && !finished) return finished.error();
  return result;
}

}  // namespace tidemark::watch
