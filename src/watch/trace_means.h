// The means to follow page allocations, the best that works.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "source/live_trace.h"
#include "source/roots.h"

namespace tidemark::watch {

struct ChosenTrace {
  std::unique_ptr<source::LiveTrace> live;
  std::vector<std::string> notes;  // why none of the better ones

  // With those notes first.
  base::Result<model::Trace> read(const source::Roots& roots) const;
};

// By what was asked for, or by the first that works. Where none does, the
// reason why the best one does not is the one to tell.
base::Result<ChosenTrace> choose_trace(
    const source::Roots& roots, std::optional<model::TraceBackend> backend,
    const source::TraceOptions& options);

}  // namespace tidemark::watch
