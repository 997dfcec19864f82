// `run`: a command, the true peak of everything it starts, and what that was
// made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "model/run.h"
#include "watch/run_watch.h"

namespace tidemark::cli {

struct RunCommandOptions {
  CommonOptions common;
  std::vector<std::string> command;
  std::optional<uint64_t> limit_bytes;
  std::string via = "auto";
  bool freezes = false;
  bool exact_peak = false;
  bool sees_page_cache = false;
  bool waits_for_all = false;
  bool times_bpf = false;
  bool with_stacks = false;              // of programs
  std::optional<uint64_t> stack_period;  // as dense as was asked for
  uint64_t row_limit = 10;
};

Command run_command();

// Says why there was nothing to report, and the status that goes with it.
ExitCode run_failure(const watch::RunFailure& failure);
// The command's own status, 128+N when signal N ended it.
ExitCode run_status(const model::RunRecord& record);

base::Result<ExitCode> run_run(const RunCommandOptions& options);

}  // namespace tidemark::cli
