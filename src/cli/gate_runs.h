// The runs a gate judges: a command run again and again, or recordings of it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "model/gate.h"
#include "source/roots.h"

namespace tidemark::cli {

struct GateRunOptions {
  const CommonOptions& common;
  model::GateMetric metric = model::GateMetric::Charged;
  std::vector<std::string> command;
  uint64_t count = 5;
};

// A run that fails ends them: the memory of half a command says nothing. The
// last is then the one that failed, with the reason.
base::Result<std::vector<model::GateRun>> run_repeatedly(
    const source::Roots& roots, const GateRunOptions& options);

// The peak of each recording.
base::Result<std::vector<model::GateRun>> recorded_runs(
    const std::vector<std::string>& paths, model::GateMetric metric);

}  // namespace tidemark::cli
