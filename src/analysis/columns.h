// The shape of something over time, in so many columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/run.h"

namespace tidemark::analysis {

// The highest point of each of the stretches that [0, end_ns] is cut into. A
// stretch without a point repeats the one before it: nothing was read there
// because nothing happened.
std::vector<uint64_t> highest_in_columns(
    const std::vector<model::HeightPoint>& points, uint64_t end_ns,
    size_t column_count);

}  // namespace tidemark::analysis
