#include "watch/trace_feed.h"

#include <utility>
#include <vector>

#include "base/clock.h"
#include "source/kernel_symbols.h"

namespace tidemark::watch {

using analysis::Tracing;

base::Result<std::unique_ptr<TraceFeed>> TraceFeed::start(
    const source::Roots& roots, TraceWatchOptions options,
    std::function<void()> changed) {
  base::Result<WakeUp> stop = WakeUp::make();
  if (!stop) return stop.error();
  std::unique_ptr<TraceFeed> feed(new TraceFeed(
      roots, std::move(options), std::move(changed), std::move(*stop)));
  const AllSignalsBlocked blocked;
  feed->thread_ = std::thread([raw = feed.get()] { raw->run(); });
  return feed;
}

TraceFeed::TraceFeed(const source::Roots& roots, TraceWatchOptions options,
                     std::function<void()> changed, WakeUp stop)
    : roots_(roots),
      options_(std::move(options)),
      changed_(std::move(changed)),
      stop_(std::move(stop)) {
  options_.stop_fd = stop_.fd();
}

TraceFeed::~TraceFeed() {
  stop_.raise();
  if (thread_.joinable()) thread_.join();
}

TraceFeed::State TraceFeed::state() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return state_;
}

void TraceFeed::change(const std::function<void(State&)>& how) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const State before = state_;
    how(state_);
    if (state_ == before) return;
  }
  has_changed_.notify_all();
  changed_();
}

base::Status TraceFeed::wait_for_start() {
  std::unique_lock<std::mutex> lock(mutex_);
  has_changed_.wait(lock, [&] { return state_.tracing != Tracing::Starting; });
  if (failure_) return *failure_;
  return base::Ok{};
}

void TraceFeed::name_code() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_naming_ = true;
}

// New code waits for its name for a while, since a look at all names takes long
// (FrameNames): who asks for them has them at once.
void TraceFeed::name_nameless(model::Trace& trace) const {
  std::vector<uint64_t> addresses;
  std::vector<size_t> places;
  for (size_t i = 0; i < trace.frames.size(); ++i) {
    const model::TraceFrame& frame = trace.frames[i];
    if (!frame.symbol.empty() || frame.address == 0) continue;
    addresses.push_back(frame.address);
    places.push_back(i);
  }
  if (addresses.empty()) return;
  base::Result<std::vector<model::TraceFrame>> named =
      source::name_addresses(roots_, addresses);
  if (!named) return;
  for (size_t i = 0; i < places.size(); ++i)
    trace.frames[places[i]] = (*named)[i];
}

void TraceFeed::take(model::Trace trace,
                     const std::optional<model::TraceBefore>& before) {
  bool is_naming = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_naming = std::exchange(is_naming_, false);
  }
  // Of programs names come with the stacks.
  if (is_naming && !trace.user) name_nameless(trace);
  if (before && !before_)
    before_ = std::make_shared<const model::TraceBefore>(*before);
  const std::shared_ptr<const analysis::TraceHistory> history =
      keeper_.add(trace);
  std::shared_ptr<const analysis::TopTrace> made = analysis::make_top_trace(
      std::make_shared<const model::Trace>(std::move(trace)), history, before_);
  change([&](State& state) { state.trace = std::move(made); });
}

void TraceFeed::run() {
  TraceHooks hooks;
  hooks.started = [&] {
    change([](State& state) { state.tracing = Tracing::On; });
  };
  hooks.progress = [&](const TraceProgress& progress) {
    change([&](State& state) {
      state.note =
          progress.is_paused ? "disk full; nothing is recorded meanwhile" : "";
    });
  };
  hooks.reading = [&](model::Trace trace,
                      const std::optional<model::TraceBefore>& before) {
    take(std::move(trace), before);
  };
  outcome_ = watch_trace(roots_, options_, hooks);
  if (*outcome_) take((*outcome_)->trace, std::nullopt);
  change([&](State& state) {
    state.tracing = Tracing::Ended;
    if (*outcome_) return;
    failure_ = outcome_->error();
    state.note = failure_->what;
  });
}

base::Result<TraceOutcome> TraceFeed::finish() {
  stop_.raise();
  if (thread_.joinable()) thread_.join();
  return std::move(*outcome_);
}

}  // namespace tidemark::watch
