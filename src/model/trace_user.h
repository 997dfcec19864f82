// What a trace of stacks of programs tells besides the stacks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::model {

// The name of the frame that stands between those of the program and those of
// the kernel.
inline constexpr std::string_view kKernelBorder = "[kernel]";
// Stands outermost where the way further out is not known.
inline constexpr std::string_view kCutFrame = "[cut]";

// A file with code of programs.
struct TraceImage {
  std::string name;  // TraceFrame::module
  std::string path;
  std::string build_id;  // hexadecimal; empty: it has none
  bool operator==(const TraceImage&) const = default;
};

struct TraceUser {
  std::vector<TraceImage> images;
  uint64_t sample_count = 0;
  uint64_t cut_count = 0;       // whose outer frames could not be followed
  uint64_t unmapped_count = 0;  // of processes that ended before we looked
  uint64_t unwinding_ns = 0;    // of our own CPU time
  uint64_t naming_ns = 0;       // the same, when it was read
  bool operator==(const TraceUser&) const = default;
};

}  // namespace tidemark::model
