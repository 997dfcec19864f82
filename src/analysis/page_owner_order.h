// What the records of page_owner are grouped and sorted by, and the words for
// it: those of page_owner_sort, long and short.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::analysis {

// Records that agree in all that is chosen are one group; nothing chosen makes
// one group of all.
struct PageOwnerGrouping {
  bool by_stack = false;
  bool by_pid = false;
  bool by_tgid = false;
  bool by_name = false;
  bool by_allocator = false;
  bool operator==(const PageOwnerGrouping&) const = default;
};

enum class PageOwnerSortKey : uint8_t {
  Memory,
  Count,     // of blocks, whatever their order
  Time,      // of the oldest block
  FreeTime,  // when its oldest pages were last given back before that
  Pid,
  Tgid,
  Name,
  Stack,
  Allocator,
};

struct PageOwnerOrder {
  PageOwnerSortKey key = PageOwnerSortKey::Memory;
  bool is_descending = true;
  bool operator==(const PageOwnerOrder&) const = default;
};

// "stacktrace,pid", "st,p"; the keys of page_owner_sort --cull.
base::Result<PageOwnerGrouping> parse_page_owner_grouping(
    std::string_view list);

// "-memory,+name": the keys of page_owner_sort --sort, and memory and times for
// its options -m and -t. Without a sign memory and times go down, the others
// up.
base::Result<std::vector<PageOwnerOrder>> parse_page_owner_order(
    std::string_view list);

}  // namespace tidemark::analysis
