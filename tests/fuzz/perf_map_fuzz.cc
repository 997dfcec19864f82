// What a runtime leaves of the code it made: any bytes at all. A line is whole,
// has a size and a name of bounded length, or is not there.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "parse/perf_map.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(data, data + size);
  for (const tidemark::parse::PerfMapLine& line :
       tidemark::parse::parse_perf_map(text)) {
    if (line.size_bytes == 0 || line.name.empty() || line.name.size() > 512) {
      std::abort();
    }
  }
  return 0;
}
