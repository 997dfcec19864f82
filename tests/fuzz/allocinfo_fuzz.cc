// /proc/allocinfo: a site that was read names its place.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "parse/allocinfo.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;  // NOLINT(google-build-using-namespace)
  const std::string text(data, data + size);
  const base::Result<std::vector<model::AllocationSite>> sites =
      parse::parse_allocinfo(text);
  if (!sites) {
    if (sites.error().what.empty()) std::abort();
    return 0;
  }
  for (const model::AllocationSite& site : *sites) {
    if (site.file.empty() || site.function.empty()) std::abort();
  }
  return 0;
}
