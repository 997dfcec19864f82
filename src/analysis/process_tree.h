// Parents before children, with depth.
#pragma once

#include <cstdint>
#include <vector>

#include "model/process.h"

namespace tidemark::analysis {

struct TreeEntry {
  size_t index = 0;  // into the processes given
  uint32_t depth = 0;
  size_t descendant_count = 0;  // how many of the entries behind it are below
  bool operator==(const TreeEntry&) const = default;
};

// Depth first, siblings in the order given. A process whose parent is not
// among them is a root, and so is one in a ring of parents, which a tree that
// was copied while pids were reused can contain: each appears exactly once.
std::vector<TreeEntry> process_tree(
    const std::vector<model::Process>& processes);

}  // namespace tidemark::analysis
