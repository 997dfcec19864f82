// One reading of /proc/allocinfo (6.10, CONFIG_MEM_ALLOC_PROFILING).
#pragma once

#include "base/result.h"
#include "model/allocation_site.h"
#include "source/roots.h"

namespace tidemark::source {

// Some thousand lines, root only. Whoever polls reads again and compares; the
// file costs the traced kernel nothing beyond what profiling does. Says in a
// note when counting is turned off (vm.mem_profiling), which we never change.
base::Result<model::AllocationReading> read_allocinfo(const Roots& roots);

}  // namespace tidemark::source
