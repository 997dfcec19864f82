// Which processes of a recording a filter means: those that met it at any of
// its moments, under any of their names.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "analysis/process_filter.h"
#include "model/recording.h"
#include "model/timeline.h"

namespace tidemark::analysis {

// By their numbers within the recording. Bands at all its ticks are needed
// where the filter asks for sizes; of who is not in them no size is known,
// which meets no condition.
std::set<int64_t> ever_matching(
    const ProcessFilter& filter,
    const std::vector<model::RecordedProcess>& processes,
    const model::Bands& bands);

}  // namespace tidemark::analysis
