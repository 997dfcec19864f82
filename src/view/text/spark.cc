#include "view/text/spark.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace tidemark::view {
namespace {

constexpr std::string_view kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kAscii[] = {".", ":", "-", "=", "+", "*", "%", "#"};
constexpr size_t kLevels = 8;

}  // namespace

std::string sparkline(const TextStyle& style,
                      const std::vector<model::HeightPoint>& points,
                      uint64_t end_ns, uint64_t top_bytes, size_t columns) {
  std::vector<std::optional<uint64_t>> cells(columns);
  for (const model::HeightPoint& point : points) {
    if (end_ns == 0 || columns == 0) break;
    const double at = static_cast<double>(std::min(point.time_ns, end_ns)) /
                      static_cast<double>(end_ns);
    const size_t cell = std::min(
        columns - 1, static_cast<size_t>(at * static_cast<double>(columns)));
    cells[cell] = std::max(cells[cell].value_or(0), point.bytes);
  }
  std::string line;
  uint64_t last = 0;
  for (const std::optional<uint64_t>& cell : cells) {
    last = cell.value_or(last);
    const double height = top_bytes == 0
                              ? 0
                              : static_cast<double>(std::min(last, top_bytes)) /
                                    static_cast<double>(top_bytes);
    const size_t level =
        std::min(kLevels - 1,
                 static_cast<size_t>(height * static_cast<double>(kLevels)));
    line += style.utf8 ? kBlocks[level] : kAscii[level];
  }
  return line;
}

}  // namespace tidemark::view
