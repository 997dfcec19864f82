#include "watch/trace_watch.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "watch/signal_relay.h"
#include "watch/stop_signals.h"
#include "watch/trace_means.h"
#include "watch/trace_recording.h"

namespace tidemark::watch {
namespace {

constexpr uint64_t kLookNs = 250'000'000;

TraceMeansOptions means_of(const TraceWatchOptions& options,
                           const source::TraceOptions& trace) {
  return {options.backend, trace, options.follows_slab, options.tells_before,
          options.starts_early};
}

// When it is told what a trace has come to so far.
class RunningReport {
 public:
  RunningReport(const TraceWatchOptions& options, const TraceHooks& hooks)
      : period_ns_(options.running_period_ns), tell_(hooks.running) {
    // Naming functions takes a tenth of a second, in which nobody reads rings:
    // not while BPF is about to make them needless.
    constexpr uint64_t kFirstNs = 1'000'000'000;
    if (tell_) due_ns_ = base::monotonic_ns() + std::max(period_ns_, kFirstNs);
  }
  uint64_t due_ns() const { return due_ns_; }

  // A reading that fails is the end's to tell of.
  void tell(ChosenTrace& chosen, const source::Roots& roots) {
    const uint64_t started_ns = base::monotonic_ns();
    if (started_ns < due_ns_) return;
    base::Result<model::Trace> trace = chosen.read(roots);
    if (trace) tell_(*trace);
    constexpr uint64_t kPauses = 4;
    const uint64_t ended_ns = base::monotonic_ns();
    due_ns_ = std::max(started_ns + period_ns_,
                       ended_ns + (ended_ns - started_ns) * kPauses);
  }

 private:
  uint64_t period_ns_;
  const std::function<void(const model::Trace&)>& tell_;
  uint64_t due_ns_ = UINT64_MAX;
};

// Readings for whoever looks on.
class Showing {
 public:
  explicit Showing(const TraceHooks& hooks)
      : hooks_(hooks),
        due_ns_(hooks.reading ? base::monotonic_ns() : UINT64_MAX) {}

  uint64_t due_ns() const { return due_ns_; }
  base::Status take(ChosenTrace& chosen, const source::Roots& roots,
                    bool was_looked) {
    const uint64_t started_ns = base::monotonic_ns();
    if (started_ns < due_ns_) return base::Ok{};
    const uint64_t cpu_ns = base::own_cpu_ns();
    if (!was_looked) chosen.live->look();
    base::Result<model::Trace> trace = chosen.peek(roots);
    if (!trace) return trace.error();
    hooks_.reading(std::move(*trace), chosen.before);
    // A twentieth of a CPU at most. Not of the time: beside other work that
    // would be long without being our doing.
    constexpr uint64_t kPauses = 20;
    const uint64_t took_ns = base::own_cpu_ns() - cpu_ns;
    due_ns_ = started_ns + std::max(base::kNsPerSecond, took_ns * kPauses);
    return base::Ok{};
  }

 private:
  const TraceHooks& hooks_;
  uint64_t due_ns_;
};

// Waits with `wait`, which tells what ended it, and looks in between.
// Draining does not wait for that when the trace wants it.
base::Status follow(ChosenTrace& chosen, const source::Roots& roots,
                    const TraceWatchOptions& options, const TraceHooks& hooks,
                    TraceRecording* recording,
                    const std::function<WaitEnd(uint64_t)>& wait) {
  source::LiveTrace& trace = *chosen.live;
  const uint64_t started_ns = base::monotonic_ns();
  const uint64_t end_ns =
      options.duration_ns ? started_ns + *options.duration_ns : UINT64_MAX;
  uint64_t next_ns = started_ns;
  RunningReport running(options, hooks);
  Showing showing(hooks);
  while (true) {
    const uint64_t now = base::monotonic_ns();
    if (now >= end_ns) return base::Ok{};
    if (now >= next_ns) next_ns = std::max(next_ns + kLookNs, now);
    const uint64_t due_ns =
        recording != nullptr ? recording->due_ns() : UINT64_MAX;
    const WaitEnd wait_end = wait(std::min(
        {next_ns, end_ns, due_ns, running.due_ns(), showing.due_ns()}));
    if (wait_end == WaitEnd::Stop) return base::Ok{};
    trace.drain();
    running.tell(chosen, roots);
    // Never without a wait before it, however short: signals come by it, also
    // when readings take longer than the time between them.
    if (recording != nullptr && base::monotonic_ns() >= recording->due_ns()) {
      if (!options.sees_growth) trace.look();
      base::Status taken = recording->take([&] { return chosen.read(roots); });
      if (!taken) return taken;
    }
    base::Status shown = showing.take(
        chosen, roots, options.sees_growth || recording != nullptr);
    if (!shown) return shown;
    if (wait_end == WaitEnd::Wake || base::monotonic_ns() < next_ns) continue;
    if (options.sees_growth) trace.look();
    TraceProgress progress = {base::monotonic_ns() - started_ns,
                              trace.height()};
    progress.is_paused = recording != nullptr && recording->is_paused();
    hooks.progress(progress);
  }
}

// Starts it and follows it to its end, into the sink where there is one.
base::Result<TraceOutcome> run(ChosenTrace& chosen, const source::Roots& roots,
                               const TraceWatchOptions& options,
                               const TraceHooks& hooks,
                               const std::function<base::Status()>& started,
                               const std::function<WaitEnd(uint64_t)>& wait) {
  chosen.go();
  hooks.started();
  std::optional<TraceRecording> recording;
  if (options.sink != nullptr) {
    recording.emplace(*options.sink, options.period_ns, base::monotonic_ns());
  }
  base::Status status = started();
  if (status) {
    status = follow(chosen, roots, options, hooks,
                    recording ? &*recording : nullptr, wait);
  }
  base::Result<model::Trace> last = chosen.read_last(roots);
  if (status && !last) status = last.error();
  base::Status recorded = base::Ok{};
  if (recording) {
    recorded = last ? recording->finish(*last) : recording->abandon();
    if (recorded && recording->is_paused()) {
      recorded = base::fail(base::ErrorKind::NoSpace,
                            "the disk is full: the end is not in the file");
    }
  }
  if (!status) return status.error();
  TraceOutcome outcome;
  outcome.trace = std::move(*last);
  if (!recorded) outcome.unrecorded = recorded.error();
  return outcome;
}

// Sleeps until the time, a signal for the command or its end, or until
// `wake_fd` (unless -1) can be read.
WaitEnd wait_for(const SignalRelay& signals, const source::Command& command,
                 int wake_fd, uint64_t until_ns) {
  std::array<pollfd, 3> waiting = {{{command.end_fd(), POLLIN, 0},
                                    {signals.fd(), POLLIN, 0},
                                    {wake_fd, POLLIN, 0}}};
  const uint64_t now = base::monotonic_ns();
  const uint64_t left = until_ns > now ? until_ns - now : 0;
  constexpr uint64_t kSecond = 1'000'000'000;
  const timespec timeout{static_cast<time_t>(left / kSecond),
                         static_cast<long>(left % kSecond)};
  ::ppoll(waiting.data(), waiting.size(), &timeout, nullptr);
  return waiting[2].revents != 0 ? WaitEnd::Wake : WaitEnd::Due;
}

base::Result<TraceOutcome> trace_command(const source::Roots& roots,
                                         const TraceWatchOptions& options,
                                         const TraceHooks& hooks) {
  base::Result<SignalRelay> signals = SignalRelay::block();
  if (!signals) return signals.error();
  source::CommandSpec spec;
  spec.arguments = options.command;
  spec.signal_mask = signals->inherited_mask();
  spec.ignores_broken_pipe = options.ignores_broken_pipe;
  base::Result<source::Command> command = source::Command::prepare(spec);
  if (!command) return command.error();
  source::TraceOptions trace_options = options.trace;
  if (options.follows_command) trace_options.filter.tree_pid = command->pid();
  base::Result<ChosenTrace> chosen =
      choose_trace(roots, means_of(options, trace_options));
  if (!chosen) return chosen.error();
  std::optional<source::Ending> ending;
  base::Result<TraceOutcome> outcome = run(
      *chosen, roots, options, hooks, [&] { return command->release(); },
      [&](uint64_t until) {
        const WaitEnd wait_end =
            wait_for(*signals, *command, chosen->live->wake_fd(), until);
        signals->relay_to(command->pid());
        if (!ending) ending = command->ending();
        return ending ? WaitEnd::Stop : wait_end;
      });
  if (outcome) outcome->ending = ending;
  return outcome;
}

// Until the time, until `stop_fd` can be read, or `wake_fd` unless it is -1.
WaitEnd wait_for_stop(int stop_fd, int wake_fd, uint64_t until_ns) {
  std::array<pollfd, 2> waiting = {
      {{stop_fd, POLLIN, 0}, {wake_fd, POLLIN, 0}}};
  const uint64_t now = base::monotonic_ns();
  const uint64_t left = until_ns > now ? until_ns - now : 0;
  const timespec timeout{static_cast<time_t>(left / base::kNsPerSecond),
                         static_cast<long>(left % base::kNsPerSecond)};
  ::ppoll(waiting.data(), waiting.size(), &timeout, nullptr);
  if (waiting[0].revents != 0) return WaitEnd::Stop;
  return waiting[1].revents != 0 ? WaitEnd::Wake : WaitEnd::Due;
}

}  // namespace

base::Result<TraceOutcome> watch_trace(const source::Roots& roots,
                                       const TraceWatchOptions& options,
                                       const TraceHooks& hooks) {
  if (!options.command.empty()) return trace_command(roots, options, hooks);
  std::optional<StopSignals> signals;
  if (options.stop_fd < 0) {
    base::Result<StopSignals> blocked = StopSignals::block();
    if (!blocked) return blocked.error();
    signals.emplace(std::move(*blocked));
  }
  base::Result<ChosenTrace> chosen =
      choose_trace(roots, means_of(options, options.trace));
  if (!chosen) return chosen.error();
  return run(
      *chosen, roots, options, hooks, [] { return base::Status(base::Ok{}); },
      [&](uint64_t until) {
        const int wake_fd = chosen->live->wake_fd();
        return signals ? signals->wait_until(until, wake_fd)
                       : wait_for_stop(options.stop_fd, wake_fd, until);
      });
}

}  // namespace tidemark::watch
