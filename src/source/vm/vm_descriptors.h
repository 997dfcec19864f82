// All descriptors of one process.
#pragma once

#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "source/descriptor_links.h"

namespace tidemark::source {

base::Result<std::vector<FoundDescriptor>> list_descriptors(
    const base::Directory& process, bool follow_paths);

}  // namespace tidemark::source
