#include "watch/trace_watch.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "source/bpf/slab_tracer.h"
#include "source/trace_before.h"
#include "watch/signal_relay.h"
#include "watch/stop_signals.h"

namespace tidemark::watch {
namespace {

constexpr uint64_t kLookNs = 250'000'000;

struct Means {
  model::TraceBackend backend;
  source::LiveTraceResult (*prepare)(const source::Roots&,
                                     const source::TraceOptions&);
};
// The best first.
constexpr Means kMeans[] = {
    {model::TraceBackend::Bpf, source::prepare_bpf_trace},
    {model::TraceBackend::Perf, source::prepare_perf_trace},
    {model::TraceBackend::Ftrace, source::prepare_ftrace_trace},
};

// The means that were found, and why none of the better ones.
struct Chosen {
  std::unique_ptr<source::LiveTrace> trace;
  std::vector<std::string> notes;
  std::optional<model::TraceBefore> before;
  std::optional<base::Result<source::SlabTracer>> slab;

  void go() {
    trace->go();
    if (slab && *slab) (*slab)->go();
  }
};

// By what was asked for, or by the first that works. Where none does, the
// reason why the best one does not is the one to tell.
base::Result<Chosen> prepare(const source::Roots& roots,
                             const TraceWatchOptions& options,
                             const source::TraceOptions& trace_options) {
  Chosen chosen;
  // Before there are tables of ours in it.
  if (options.tells_before) chosen.before = source::read_trace_before(roots);
  std::optional<base::Error> why;
  for (const Means& means : kMeans) {
    if (options.backend && *options.backend != means.backend) continue;
    source::LiveTraceResult trace = means.prepare(roots, trace_options);
    if (trace) {
      if (options.follows_slab) {
        chosen.slab = source::SlabTracer::prepare(trace_options.filter);
      }
      chosen.trace = std::move(*trace);
      return chosen;
    }
    if (!why) why = trace.error();
    chosen.notes.push_back(
        "not by " + std::string(model::trace_backend_token(means.backend)) +
        ": " + trace.error().what);
  }
  if (why) return *why;
  return base::fail(base::ErrorKind::Unsupported,
                    "this is no means to follow allocations as they happen");
}

// Waits with `wait`, which tells what ended it, and looks in between.
// Draining does not wait for that when the trace wants it.
void follow(source::LiveTrace& trace, const TraceWatchOptions& options,
            const TraceHooks& hooks,
            const std::function<WaitEnd(uint64_t)>& wait) {
  const uint64_t started_ns = base::monotonic_ns();
  const uint64_t end_ns =
      options.duration_ns ? started_ns + *options.duration_ns : UINT64_MAX;
  uint64_t next_ns = started_ns;
  while (true) {
    const uint64_t now = base::monotonic_ns();
    if (now >= end_ns) return;
    if (now >= next_ns) next_ns = std::max(next_ns + kLookNs, now);
    const WaitEnd wait_end = wait(std::min(next_ns, end_ns));
    if (wait_end == WaitEnd::Stop) return;
    trace.drain();
    if (wait_end == WaitEnd::Wake) continue;
    if (options.sees_growth) trace.look();
    hooks.progress({base::monotonic_ns() - started_ns, trace.height()});
  }
}

base::Result<TraceOutcome> end(Chosen& chosen, const source::Roots& roots,
                               std::optional<source::Ending> ending) {
  if (chosen.slab && *chosen.slab) (*chosen.slab)->freeze();
  chosen.trace->freeze();
  base::Result<model::Trace> read = chosen.trace->read(roots);
  if (!read) return read.error();
  read->notes.insert(read->notes.begin(), chosen.notes.begin(),
                     chosen.notes.end());
  read->before = std::move(chosen.before);
  if (chosen.slab) {
    read->slab =
        *chosen.slab
            ? model::known((*chosen.slab)->read(roots))
            : model::unknown<model::SlabTrace>(chosen.slab->error().what);
    if (*read->slab) read->kernel_bytes += (*read->slab)->kernel_bytes;
  }
  return TraceOutcome{std::move(*read), ending};
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
  base::Result<Chosen> chosen = prepare(roots, options, trace_options);
  if (!chosen) return chosen.error();
  source::LiveTrace& trace = *chosen->trace;
  chosen->go();
  hooks.started();
  base::Status released = command->release();
  if (!released) return released.error();
  std::optional<source::Ending> ending;
  follow(trace, options, hooks, [&](uint64_t until) {
    const WaitEnd wait_end =
        wait_for(*signals, *command, trace.wake_fd(), until);
    signals->relay_to(command->pid());
    if (!ending) ending = command->ending();
    return ending ? WaitEnd::Stop : wait_end;
  });
  return end(*chosen, roots, ending);
}

}  // namespace

base::Result<TraceOutcome> watch_trace(const source::Roots& roots,
                                       const TraceWatchOptions& options,
                                       const TraceHooks& hooks) {
  if (!options.command.empty()) return trace_command(roots, options, hooks);
  base::Result<StopSignals> signals = StopSignals::block();
  if (!signals) return signals.error();
  base::Result<Chosen> chosen = prepare(roots, options, options.trace);
  if (!chosen) return chosen.error();
  source::LiveTrace& trace = *chosen->trace;
  chosen->go();
  hooks.started();
  follow(trace, options, hooks, [&](uint64_t until) {
    return signals->wait_until(until, trace.wake_fd());
  });
  return end(*chosen, roots, std::nullopt);
}

}  // namespace tidemark::watch
