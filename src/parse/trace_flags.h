// Which bits the flags of an event's field are: the format files of tracefs
// name them for whoever prints a record. Their values differ between kernels,
// so they are read from there and nowhere else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::parse {

struct TraceFlag {
  std::string name;  // "__GFP_MOVABLE"
  uint64_t bits = 0;
  bool operator==(const TraceFlag&) const = default;
};

// The names and values behind __print_flags( in the text of a format file, in
// the file's order. The values are expressions of C; one that needs more than
// is written there (the name of an enumerator, on some kernels) is left out.
std::vector<TraceFlag> parse_trace_flags(std::string_view format);

}  // namespace tidemark::parse
