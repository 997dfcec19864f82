// One trace of two that followed each other: what the first has begun, the
// second went on with, so that each page is held in one of them only.
#pragma once

#include "model/trace.h"

namespace tidemark::model {

// Sums and the machine's peak are the later's, which knows of both. Peaks of
// what both tell of (a leaf, a task) are sums of what each was at its own time,
// and so upper bounds, as the task says.
Trace join_traces(const Trace& earlier, const Trace& later);

}  // namespace tidemark::model
