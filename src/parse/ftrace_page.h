// Parses a page of a trace buffer as trace_pipe_raw hands it over: events with
// the time since the one before, packed as the kernel has them. Nothing in it
// is believed beyond the page's end.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "parse/trace_format.h"

namespace tidemark::parse {

// Where the parts of a page lie, by events/header_page.
struct FtracePageLayout {
  TraceField time;
  TraceField commit;  // how many bytes of events there are
  uint32_t data_offset = 0;
};
base::Result<FtracePageLayout> parse_ftrace_page_layout(std::string_view text);

struct FtraceRecord {
  uint64_t time_ns = 0;
  std::string_view data;  // from common_type on
};

class FtracePage {
 public:
  FtracePage(std::string_view page, const FtracePageLayout& layout);

  // False at the end, and when what follows makes no sense.
  bool next(FtraceRecord& record);

 private:
  struct Entry;
  bool read_entry(Entry& entry) const;

  std::string_view rest_;
  uint64_t time_ns_ = 0;
};

}  // namespace tidemark::parse
