#include "analysis/columns.h"

#include <algorithm>
#include <optional>

namespace tidemark::analysis {

std::vector<uint64_t> highest_in_columns(
    const std::vector<model::HeightPoint>& points, uint64_t end_ns,
    size_t column_count) {
  std::vector<std::optional<uint64_t>> cells(column_count);
  for (const model::HeightPoint& point : points) {
    if (end_ns == 0 || column_count == 0) break;
    const double at = static_cast<double>(std::min(point.time_ns, end_ns)) /
                      static_cast<double>(end_ns);
    const size_t cell =
        std::min(column_count - 1,
                 static_cast<size_t>(at * static_cast<double>(column_count)));
    cells[cell] = std::max(cells[cell].value_or(0), point.bytes);
  }
  std::vector<uint64_t> heights;
  uint64_t last = 0;
  for (const std::optional<uint64_t>& cell : cells) {
    last = cell.value_or(last);
    heights.push_back(last);
  }
  return heights;
}

}  // namespace tidemark::analysis
