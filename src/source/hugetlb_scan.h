// Huge pages of hugetlb, for the tier that scans pages. The kernel counts them
// beside Rss, in Shared_Hugetlb and Private_Hugetlb; a scan finds them present
// like any other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "model/mapping.h"

namespace tidemark::source {

struct HugetlbCount {
  uint64_t page_bytes = 0;
  uint64_t private_bytes = 0;
  uint64_t shared_bytes = 0;
  bool operator==(const HugetlbCount&) const = default;
};

// Of each mapping; empty for those that are not of hugetlb. Before 6.11, which
// has no PROCMAP_QUERY, only those that are nobody's file are known, by their
// name.
base::Result<std::vector<std::optional<HugetlbCount>>> scan_hugetlb(
    const base::Directory& process,
    const std::vector<model::Mapping>& mappings);

}  // namespace tidemark::source
