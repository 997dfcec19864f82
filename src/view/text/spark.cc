#include "view/text/spark.h"

#include <algorithm>
#include <string_view>

#include "analysis/columns.h"

namespace tidemark::view {
namespace {

constexpr std::string_view kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kAscii[] = {".", ":", "-", "=", "+", "*", "%", "#"};
constexpr size_t kLevels = 8;

}  // namespace

std::string sparkline(const TextStyle& style,
                      const std::vector<model::HeightPoint>& points,
                      uint64_t end_ns, uint64_t top_bytes, size_t columns) {
  std::string line;
  for (uint64_t bytes : analysis::highest_in_columns(points, end_ns, columns)) {
    const double height =
        top_bytes == 0 ? 0
                       : static_cast<double>(std::min(bytes, top_bytes)) /
                             static_cast<double>(top_bytes);
    const size_t level =
        std::min(kLevels - 1,
                 static_cast<size_t>(height * static_cast<double>(kLevels)));
    line += style.utf8 ? kBlocks[level] : kAscii[level];
  }
  return line;
}

}  // namespace tidemark::view
