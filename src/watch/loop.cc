#include "watch/loop.h"

#include <utility>

namespace tidemark::watch {
namespace {

base::Result<LoopResult> run_ticks(model::Source& source, model::Sink& sink,
                                   const LoopOptions& options,
                                   const LoopClock& clock) {
  const uint64_t start = clock.now_ns();
  Ticker ticker(start, options.period_ns);
  LoopResult result;
  model::Sample sample;
  while (!options.count || result.tick_count < *options.count) {
    const Ticker::Tick tick = ticker.next(clock.now_ns());
    if (options.duration_ns && tick.due_ns - start >= *options.duration_ns) {
      break;
    }
    result.missed_count += tick.missed_count;
    if (clock.wait_until(tick.due_ns)) {
      result.end = LoopEnd::Stopped;
      break;
    }
    base::Status status = source.collect(sample);
    if (!status && status.error().kind == base::ErrorKind::Gone) {
      result.end = LoopEnd::TargetGone;
      result.gone = status.error();
      break;
    }
    if (status) status = sink.accept(sample);
    if (!status) return status.error();
    ++result.tick_count;
  }
  return result;
}

}  // namespace

Ticker::Ticker(uint64_t start_ns, uint64_t period_ns)
    : start_ns_(start_ns), period_ns_(period_ns) {}

Ticker::Tick Ticker::next(uint64_t now_ns) {
  Tick tick;
  const uint64_t passed = now_ns > start_ns_ ? now_ns - start_ns_ : 0;
  // A tick is missed once the one after it is due as well.
  const uint64_t current = passed / period_ns_;
  if (current > next_index_) {
    tick.missed_count = current - next_index_;
    next_index_ = current;
  }
  tick.due_ns = start_ns_ + next_index_ * period_ns_;
  ++next_index_;
  return tick;
}

base::Result<LoopResult> run_loop(model::Source& source, model::Sink& sink,
                                  const LoopOptions& options,
                                  const LoopClock& clock) {
  base::Result<LoopResult> result = run_ticks(source, sink, options, clock);
  base::Status finished = sink.finish();
  if (result && !finished) return finished.error();
  return result;
}

}  // namespace tidemark::watch
