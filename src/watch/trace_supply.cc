#include "watch/trace_supply.h"

#include <utility>

#include "base/clock.h"

namespace tidemark::watch {

using analysis::Tracing;

TraceSupply::TraceSupply(const source::Roots& roots, std::string target,
                         WakeUp wake)
    : roots_(roots),
      target_(std::move(target)),
      wake_(std::make_unique<WakeUp>(std::move(wake))) {}

base::Result<std::unique_ptr<TraceSupply>> TraceSupply::start(
    const source::Roots& roots, std::string target, TraceWatchOptions options) {
  base::Result<WakeUp> wake = WakeUp::make();
  if (!wake) return wake.error();
  std::unique_ptr<TraceSupply> supply(
      new TraceSupply(roots, std::move(target), std::move(*wake)));
  base::Result<std::unique_ptr<TraceFeed>> feed = TraceFeed::start(
      roots, std::move(options), [raw = supply->wake_.get()] { raw->raise(); });
  if (!feed) return feed.error();
  supply->feed_ = std::move(*feed);
  base::Status started = supply->feed_->wait_for_start();
  if (!started) return started.error();
  return supply;
}

base::Result<std::unique_ptr<TraceSupply>> TraceSupply::of(
    const source::Roots& roots, std::string target, model::Trace trace) {
  base::Result<WakeUp> wake = WakeUp::make();
  if (!wake) return wake.error();
  std::unique_ptr<TraceSupply> supply(
      new TraceSupply(roots, std::move(target), std::move(*wake)));
  std::shared_ptr<const model::TraceBefore> before;
  if (trace.before)
    before = std::make_shared<const model::TraceBefore>(*trace.before);
  const auto shared = std::make_shared<const model::Trace>(std::move(trace));
  // It has no past.
  supply->still_ = analysis::make_top_trace(
      shared, std::make_shared<const analysis::TraceHistory>(), before);
  supply->wake_->raise();
  return supply;
}

TopSupply::Snapshot TraceSupply::take() {
  wake_->clear();
  auto snapshot = std::make_shared<analysis::TopSnapshot>();
  snapshot->target = target_;
  snapshot->period_ns = base::kNsPerSecond;
  snapshot->has_all_processes = false;
  snapshot->sample.started_realtime_ns = base::realtime_ns();
  snapshot->sample.started_monotonic_ns = base::monotonic_ns();
  snapshot->sample.has_processes = false;
  snapshot->tracing = Tracing::Still;
  snapshot->trace = still_;
  if (feed_) {
    TraceFeed::State state = feed_->state();
    snapshot->trace = std::move(state.trace);
    snapshot->tracing = state.tracing;
    snapshot->note = note_.empty() ? state.note : note_;
  } else {
    snapshot->note = note_;
  }
  cost_.add_to(roots_, *snapshot);
  return snapshot;
}

// Its time is over, or it failed. Who stopped it wants to look at it.
bool TraceSupply::is_over() {
  return feed_ && !was_stopped_ && feed_->state().tracing == Tracing::Ended;
}

void TraceSupply::start_or_stop_trace() {
  if (!feed_) return;
  note_ = was_stopped_ ? "it has ended; q leaves" : "";
  was_stopped_ = true;
  feed_->stop();
  wake_->raise();
}

void TraceSupply::name_code() {
  if (feed_) feed_->name_code();
}

}  // namespace tidemark::watch
