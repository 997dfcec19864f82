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
#include <optional>
#include <string>
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
  // Before another file, if the last was not read to its end.
  void restart() { open_bytes_ = 0; }

 private:
  static constexpr int8_t kNoField = -1;  // a label we do not know
  static constexpr int8_t kThpEligible = -2;
  struct Line {
    uint8_t width = 0;        // with the newline
    int8_t field = kNoField;  // SmapsField, or one of the two above
  };

  base::Status parse_body_by_line(std::string_view body);
  size_t parse_known_body(std::string_view text);
  void learn(std::string_view body);
  void forget();
  static std::optional<Line> shape_of(std::string_view line);
  bool take_changed_line(const Line& line, const char* at, char* previous);
  size_t take_open_block(std::string_view text, bool at_end,
                         const MappingVisitor& visit);

  std::vector<Line> layout_;
  // The lines of layout_ as the mapping before had them; mapping_ holds their
  // numbers.
  std::string previous_;
  bool has_vm_flags_ = false;  // as the last line
  // The block at the front of the rest, if it is in mapping_ already and only
  // its end is not certain yet.
  size_t open_bytes_ = 0;
  model::Mapping mapping_;
};

// The whole text at once, for files and tests.
base::Result<std::vector<model::Mapping>> parse_smaps(std::string_view text);

// One line of maps, which is also the head of an smaps block.
base::Status parse_mapping_line(std::string_view line, model::Mapping& mapping);

base::Result<std::vector<model::Mapping>> parse_maps(std::string_view text);

base::Result<model::SmapsFields> parse_smaps_rollup(std::string_view text);

}  // namespace tidemark::parse
