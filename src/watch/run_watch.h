// Runs a command and records the memory of everything it starts: how high it
// rose, a picture from as close to the top as could be had, and who lived.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "model/run.h"
#include "model/trace.h"
#include "source/roots.h"
#include "source/target/command.h"
#include "watch/tree_gauge.h"

namespace tidemark::watch {

struct RunOptions {
  source::CommandSpec command;  // its signal mask is filled in here
  GaugeOptions gauge;
  bool waits_for_all = false;  // also for what the command leaves running
  // Through which code of programs pages came, one frame in so many followed;
  // empty: nobody asks.
  std::optional<uint64_t> stack_period;
  // Called at every period while the command runs, with its pid and all members
  // of the tree then.
  uint64_t tick_period_ns = 0;  // 0: never
  std::function<void(int32_t, const std::vector<int32_t>&)> tick;
};

// NotFound and Denied are the command's: there is no such program, it may not
// be executed. Anything else is ours.
struct RunFailure {
  base::Error error;
  bool is_command = false;  // exec failed
};
struct RunOutcome {
  model::RunRecord record;
  std::optional<RunFailure> failure;
  std::optional<model::Trace> trace;  // where stacks were asked for
};

RunOutcome watch_command(const source::Roots& roots, const RunOptions& options);

}  // namespace tidemark::watch
