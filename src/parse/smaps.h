// Parses /proc/PID/smaps, maps and smaps_rollup.
//
// smaps of a process with two thousand mappings is 1.4 MB of text, and the
// kernel needs about 3 ms to write it. Reading it line by line adds a third to
// that; the layout, however, is the same in every block: each counter is one
// 28-byte line, label padded to 16, number right-aligned in 8, " kB". So the
// parser learns the sequence of lines from the first block and checks the
// following ones against it, two words per label, and reads the number with
// one multiply chain (measured: docs/performance.md). A block that differs in
// any way takes the ordinary line-by-line road, which alone decides what is an
// error.
//
// Unknown labels are skipped, since every release adds some; a known label
// with an unreadable number is an error, because a silent zero would look like
// memory that is not there.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/mapping.h"

namespace tidemark::parse {

using MappingVisitor = std::function<void(const model::Mapping&)>;

// Keeps the learned layout between calls, so one parser serves a whole walk.
class SmapsParser {
 public:
  // Takes whole blocks off the front of `text` and visits each. Returns how
  // many bytes were taken; the caller keeps the rest and calls again with more
  // behind it. With `at_end` the last block is taken too. The visited mapping
  // is reused: copy what is to stay.
  base::Result<size_t> parse(std::string_view text, bool at_end,
                             const MappingVisitor& visit);

 private:
  enum class LineKind : uint8_t { Kib, Flag, VmFlags };
  struct Line {
    uint64_t label_low = 0;  // the 16 label bytes as two words
    uint64_t label_high = 0;
    LineKind kind = LineKind::Kib;
    int8_t field = -1;  // SmapsField, or -1 for a label we do not know
  };

  base::Status parse_body_by_line(std::string_view body);
  size_t parse_known_body(std::string_view text);
  void learn(std::string_view body);

  std::vector<Line> layout_;
  model::Mapping mapping_;
};

// The whole text at once, for files and tests.
base::Result<std::vector<model::Mapping>> parse_smaps(std::string_view text);

// One line of maps, which is also the head of an smaps block.
base::Status parse_mapping_line(std::string_view line, model::Mapping& mapping);

base::Result<std::vector<model::Mapping>> parse_maps(std::string_view text);

base::Result<model::SmapsFields> parse_smaps_rollup(std::string_view text);

}  // namespace tidemark::parse
