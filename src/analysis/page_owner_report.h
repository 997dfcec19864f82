// Records of page_owner by what they have in common: all that the kernel's
// page_owner_sort can select, cull and sort, in one pass over a dump. Records
// are grouped as they come, so memory grows with groups and distinct stacks and
// not with the machine's pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/page_owner_order.h"
#include "base/text_map.h"
#include "model/page_owner.h"

namespace tidemark::analysis {

struct PageOwnerReportOptions {
  PageOwnerGrouping group_by;
  std::vector<PageOwnerOrder> sort_by;  // empty: most memory first
  model::PageOwnerSelection selection;
  std::optional<uint64_t> top;  // at most so many rows, the rest in one
  uint64_t page_size_bytes = 4096;
};

// What all records of a group have; empty when they differ, or do not tell.
struct PageOwnerRow {
  uint64_t blocks = 0;
  uint64_t pages = 0;
  std::optional<int32_t> pid;
  std::optional<int32_t> tgid;
  std::optional<std::string> name;
  std::optional<model::PageAllocator> allocator;
  std::optional<uint64_t> oldest_ns;  // since boot; of those that tell
  std::optional<uint64_t> newest_ns;
  // When pages were last given back before they were taken, the earliest;
  // older kernels tell it.
  std::optional<uint64_t> freed_ns;
  std::vector<std::string>
      frames;  // innermost first, as printed; by stack only
  bool operator==(const PageOwnerRow&) const = default;
};

struct PageOwnerReport {
  uint64_t realtime_ns = 0;
  uint64_t read_ns = 0;
  uint64_t page_size_bytes = 4096;
  PageOwnerGrouping group_by;
  std::vector<PageOwnerRow> rows;
  uint64_t folded_count = 0;  // groups behind the top
  uint64_t folded_pages = 0;
  model::PageOwnerTotals totals;  // of all that was selected
  uint64_t unselected_records = 0;
  uint64_t unselected_pages = 0;
  std::vector<std::string> notes;
};

class PageOwnerGroups {
 public:
  explicit PageOwnerGroups(PageOwnerReportOptions options)
      : options_(std::move(options)) {}

  void add(const model::PageOwnerRecord& record);
  // Of the dump as a whole, as its reader counted.
  void add_faults(uint64_t broken_records, uint64_t stray_lines);

  // Times are for the caller to fill in. Nothing can be added afterwards.
  PageOwnerReport finish();

 private:
  struct Stack {
    uint32_t id = 0;
    model::StackTraits traits;
  };

  const Stack& stack_of(std::string_view text);
  void make_key(const model::PageOwnerRecord& record, const Stack& stack,
                model::PageAllocator allocator);

  PageOwnerReportOptions options_;
  base::TextMap<Stack> stacks_;
  base::TextMap<size_t> groups_;  // index of the row
  std::string key_;               // of the record being added
  std::vector<PageOwnerRow> rows_;
  model::PageOwnerTotals totals_;
  uint64_t unselected_records_ = 0;
  uint64_t unselected_pages_ = 0;
};

}  // namespace tidemark::analysis
