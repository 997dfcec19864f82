// A command that is started to be recorded: in a control group of its own where
// that can be had, so that nobody it starts is missed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "source/roots.h"
#include "source/target/command.h"
#include "watch/capture_schedule.h"
#include "watch/signal_relay.h"
#include "watch/stop_signals.h"
#include "watch/tree_gauge.h"

namespace tidemark::watch {

class RecordedCommand {
 public:
  // Signals that reach us go on to the command from here on.
  static base::Result<RecordedCommand> prepare(const source::Roots& roots,
                                               source::CommandSpec spec);

  // Lets it run. The failure of a program that cannot be.
  base::Status release() { return command_.release(); }

  int32_t pid() const { return command_.pid(); }
  std::vector<int32_t> members();
  // Stop once the command has ended.
  WaitEnd wait_until(uint64_t monotonic_ns);
  void sampled(uint64_t cost_ns);
  // Its ending, once there is one; undoes what was arranged.
  std::optional<source::Ending> finish();

 private:
  RecordedCommand(SignalRelay signals, TreeGauge gauge,
                  source::Command command);
  bool is_due();
  bool is_owed();

  SignalRelay signals_;
  TreeGauge gauge_;
  source::Command command_;
  CaptureSchedule schedule_;
  std::optional<source::Ending> ending_;
};

}  // namespace tidemark::watch
