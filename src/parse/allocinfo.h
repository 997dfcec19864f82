// Parses /proc/allocinfo (6.10, CONFIG_MEM_ALLOC_PROFILING).
//
// Versions 1 and 2 are known; another is Unsupported, because its columns would
// be taken for others. Words behind the function are skipped, since 2.0 added
// one; a line whose numbers or place cannot be read is an error, because a
// silent zero would look like memory that is not there.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/allocation_site.h"

namespace tidemark::parse {

base::Result<std::vector<model::AllocationSite>> parse_allocinfo(
    std::string_view text);

}  // namespace tidemark::parse
