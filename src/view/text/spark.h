// The shape of a run in one line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/run.h"
#include "view/text/style.h"

namespace tidemark::view {

// `columns` cells, each the highest point of its stretch of [0, end_ns], scaled
// to `top_bytes`. A stretch without a point repeats the one before it: nothing
// was read there because nothing happened.
std::string sparkline(const TextStyle& style,
                      const std::vector<model::HeightPoint>& points,
                      uint64_t end_ns, uint64_t top_bytes, size_t columns);

}  // namespace tidemark::view
