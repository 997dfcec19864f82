// Follows page allocations from the first moment on: by events, which takes
// some ten milliseconds to arrange, until BPF is loaded, which takes up to ten
// seconds where a machine is emulated. BPF then goes on with what the events
// have booked, and each page counts once.
//
// Where the kernel was told on its command line to keep allocations in its own
// trace buffer (boot_ring.h), those come first.
#pragma once

#include "source/live_trace.h"

namespace tidemark::source {

// BPF is loaded by a thread of its own, which is waited for when this is
// destroyed. Where it cannot be, events go on to the end and a note says why.
// The roots must outlive it. Misused with a sample: the two means draw theirs
// in different ways.
LiveTraceResult prepare_early_trace(const Roots& roots,
                                    const TraceOptions& options);

}  // namespace tidemark::source
