#include "watch/trace_recording.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/clock.h"

namespace tidemark::watch {
namespace {

void begin(model::Sample& sample) {
  sample.started_realtime_ns = base::realtime_ns();
  sample.started_monotonic_ns = base::monotonic_ns();
  sample.own_cpu_ns = base::own_cpu_ns();
  sample.has_processes = false;
}

}  // namespace

TraceRecording::TraceRecording(model::Sink& sink, uint64_t period_ns,
                               uint64_t start_ns)
    : writer_(sink), ticker_(start_ns, period_ns), period_ns_(period_ns) {
  plan_next();
}

void TraceRecording::plan_next() {
  const Ticker::Tick tick = ticker_.next(base::monotonic_ns());
  due_ns_ = tick.due_ns;
  if (tick.missed_count == 0) return;
  missed_.push_back({tick.due_ns - tick.missed_count * period_ns_,
                     tick.missed_count,
                     "reading took longer than the interval"});
}

base::Status TraceRecording::take(
    const std::function<base::Result<model::Trace>()>& read_trace) {
  if (std::optional<base::Error> failure = writer_.failure()) return *failure;
  std::unique_ptr<model::Sample> sample = writer_.borrow();
  if (!sample) {
    missed_.push_back({due_ns_, 1, "the disk is too slow"});
    plan_next();
    return base::Ok{};
  }
  begin(*sample);
  base::Result<model::Trace> trace = read_trace();
  if (!trace) {
    writer_.give_back(std::move(sample));
    return trace.error();
  }
  sample->trace = std::move(*trace);
  sample->ended_monotonic_ns = base::monotonic_ns();
  sample->missed_before = std::exchange(missed_, {});
  writer_.give(std::move(sample));
  plan_next();
  return base::Ok{};
}

// Beyond the bound on samples that wait: it is the one that counts most.
base::Status TraceRecording::finish(const model::Trace& last) {
  auto sample = std::make_unique<model::Sample>();
  begin(*sample);
  sample->trace = last;
  sample->ended_monotonic_ns = sample->started_monotonic_ns;
  sample->missed_before = std::exchange(missed_, {});
  writer_.give(std::move(sample));
  return writer_.stop();
}

base::Status TraceRecording::abandon() {
  return writer_.stop(std::exchange(missed_, {}));
}

base::Status AttachedTrace::add_to(model::Sample& sample) {
  chosen_.live->drain();
  chosen_.live->look();
  base::Result<model::Trace> trace = chosen_.read(roots_);
  if (!trace) return trace.error();
  sample.trace = std::move(*trace);
  return base::Ok{};
}

base::Status AttachedTrace::add_last_to(model::Sample& sample) {
  base::Result<model::Trace> trace = chosen_.read_last(roots_);
  if (!trace) return trace.error();
  sample.trace = std::move(*trace);
  return base::Ok{};
}

WaitEnd AttachedTrace::wait_until(
    uint64_t monotonic_ns, const std::function<WaitEnd(uint64_t)>& wait) {
  // Counted in the kernel: there is nothing to take.
  if (chosen_.live->wake_fd() < 0) return wait(monotonic_ns);
  // A ring of the usual size takes longer than this to fill.
  constexpr uint64_t kDrainNs = 50'000'000;
  while (true) {
    const uint64_t slice_ns =
        std::min(monotonic_ns, base::monotonic_ns() + kDrainNs);
    const WaitEnd end = wait(slice_ns);
    chosen_.live->drain();
    if (end != WaitEnd::Due || slice_ns == monotonic_ns) return end;
  }
}

}  // namespace tidemark::watch
