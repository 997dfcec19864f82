// What options of `trace` mean together, and which exclude each other.
#pragma once

#include "base/result.h"
#include "cli/trace_options.h"

namespace tidemark::cli {

// What is asked of events cannot be asked of the kernel's own notes.
base::Status refuse_with_notes(const TraceCommandOptions& options);

// Fills in what --user means where nothing else was said.
base::Status arrange_user(TraceCommandOptions& options);

}  // namespace tidemark::cli
