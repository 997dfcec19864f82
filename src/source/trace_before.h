// Memory of the kernel that is there when a trace begins, from the files that
// tell of it without tracing.
#pragma once

#include "model/trace_modules.h"
#include "source/roots.h"

namespace tidemark::source {

// Some milliseconds; each file answers for itself.
model::TraceBefore read_trace_before(const Roots& roots);

}  // namespace tidemark::source
