// A trace as it stood at another moment than the one it was read at.
#pragma once

#include "model/trace.h"

namespace tidemark::analysis {

// At the machine's peak, as the kernel kept it: what each leaf held then is
// what it holds. Peaks and how often pages were taken stay those of the whole
// trace, and a note says so.
model::Trace trace_at_peak(model::Trace trace);

}  // namespace tidemark::analysis
