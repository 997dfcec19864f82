// All descriptors of one process.
#pragma once

#include <cstdint>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "source/descriptor_links.h"

namespace tidemark::source {

struct NumberedDescriptor {
  uint32_t number = 0;
  FoundDescriptor found;
};

base::Result<std::vector<NumberedDescriptor>> list_descriptors(
    const base::Directory& process, bool follow_paths);

}  // namespace tidemark::source
