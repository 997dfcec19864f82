#include "parse/perf_map.h"

#include <optional>

#include "base/text.h"

namespace tidemark::parse {

std::vector<PerfMapLine> parse_perf_map(std::string_view text) {
  constexpr size_t kMostName = 512;
  std::vector<PerfMapLine> lines;
  text = text.substr(0, text.rfind('\n') + 1);  // npos + 1 is 0
  while (!text.empty()) {
    std::string_view line = base::take_line(text);
    const std::optional<uint64_t> start =
        base::parse_hex(base::take_until(line, ' '));
    const std::optional<uint64_t> size =
        base::parse_hex(base::take_until(line, ' '));
    if (!start || !size || *size == 0 || line.empty()) continue;
    lines.push_back({*start, *size, std::string(line.substr(0, kMostName))});
  }
  return lines;
}

}  // namespace tidemark::parse
