// Follows page allocations until it is told to stop, a time is over or a
// command has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/sample.h"
#include "model/trace.h"
#include "source/live_trace.h"
#include "source/roots.h"
#include "source/target/command.h"

namespace tidemark::watch {

struct TraceWatchOptions {
  source::TraceOptions trace;
  std::optional<model::TraceBackend> backend;  // empty: the best there is
  std::optional<uint64_t> duration_ns;
  std::vector<std::string> command;  // empty: none is started
  bool follows_command = true;       // it and its descendants alone
  bool ignores_broken_pipe = false;  // as we were started
  bool follows_slab = false;         // objects of slab caches as well
  bool tells_before = false;         // what there was when it began
  // Look four times a second at what each one holds; for a recording that is
  // done with each reading in any case.
  bool sees_growth = false;
  // By events until BPF is loaded, where no means was asked for.
  bool starts_early = false;
  // How often TraceHooks::running is told, unless that takes longer than a
  // fifth of the time.
  uint64_t running_period_ns = 1'000'000'000;
  // Where readings go each period, and the last one; none: nowhere. It is
  // finished on every way out.
  model::Sink* sink = nullptr;
  // Can be read when it shall end; signals are somebody else's then. -1: they
  // end it. Not with a command.
  int stop_fd = -1;
  uint64_t period_ns = 1'000'000'000;
};

struct TraceProgress {
  uint64_t elapsed_ns = 0;
  source::LiveTrace::Height height;
  bool is_paused = false;  // the disk is full, and nothing is recorded
};

struct TraceOutcome {
  model::Trace trace;
  std::optional<source::Ending> ending;  // of the command
  // Why the sink lacks the end of it.
  std::optional<base::Error> unrecorded;
};

struct TraceHooks {
  std::function<void()> started;  // from here on everything is seen
  std::function<void(const TraceProgress&)> progress;
  // What it has come to so far; empty: nobody wants to know.
  std::function<void(const model::Trace&)> running;
  // Where set: how it goes, at most each second and less often where reading
  // it costs much; and what there was when it began, where that was asked for.
  std::function<void(model::Trace, const std::optional<model::TraceBefore>&)>
      reading;
};

// A failure of the command to start is a failure; everything else it does is
// its own affair.
base::Result<TraceOutcome> watch_trace(const source::Roots& roots,
                                       const TraceWatchOptions& options,
                                       const TraceHooks& hooks);

}  // namespace tidemark::watch
