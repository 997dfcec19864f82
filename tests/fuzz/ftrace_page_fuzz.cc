// Pages of a trace buffer. Events must lie inside the page and come to an end.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "parse/ftrace_page.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;  // NOLINT(google-build-using-namespace)
  const std::string bytes(data, data + size);
  parse::FtracePageLayout layout;
  layout.time = {"timestamp", 0, 8};
  layout.commit = {"commit", 8, 8};
  layout.data_offset = 16;
  parse::FtracePage page(bytes, layout);
  parse::FtraceRecord record;
  for (size_t count = 0; page.next(record); ++count) {
    if (count > size || record.data.data() < bytes.data() ||
        record.data.data() + record.data.size() > bytes.data() + size) {
      std::abort();
    }
  }
  return 0;
}
