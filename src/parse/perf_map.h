// Parses what runtimes that make code as they go tell of it: /tmp/perf-PID.map,
// a line "START SIZE NAME" for each piece, in hexadecimal.
//
// The file is written by a stranger while it is read, so a line that is none is
// skipped, as is one that is not complete yet: a name more or less is all there
// is at stake.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::parse {

struct PerfMapLine {
  uint64_t start = 0;
  uint64_t size_bytes = 0;
  std::string name;
  bool operator==(const PerfMapLine&) const = default;
};

std::vector<PerfMapLine> parse_perf_map(std::string_view text);

}  // namespace tidemark::parse
