// The shape of a run in one line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/run.h"
#include "view/text/style.h"

namespace tidemark::view {

// `columns` cells, as analysis::highest_in_columns() has them, scaled to
// `top_bytes`.
std::string sparkline(const TextStyle& style,
                      const std::vector<model::HeightPoint>& points,
                      uint64_t end_ns, uint64_t top_bytes, size_t columns);

}  // namespace tidemark::view
