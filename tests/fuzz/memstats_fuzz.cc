// JSON of crosvm's memstats: read or refused, never a throw.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "parse/memstats.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(data, data + size);
  tidemark::base::Result<std::vector<tidemark::model::MemstatsRecord>> records =
      tidemark::parse::parse_memstats(text);
  if (!records) {
    if (records.error().what.empty()) std::abort();
    return 0;
  }
  for (size_t i = 1; i < records->size(); ++i) {
    if ((*records)[i].elapsed_seconds < (*records)[i - 1].elapsed_seconds) {
      std::abort();
    }
  }
  return 0;
}
