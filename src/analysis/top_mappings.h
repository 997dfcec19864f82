// The largest objects that a process maps, as its row in `top` opens to them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/process_use.h"
#include "model/mapping.h"
#include "model/region.h"

namespace tidemark::analysis {

// All mappings of one object, of one kind: an image, a file, what has no name.
struct TopMapping {
  std::string name;  // as model::object_name() calls it
  CategoryUse use;
  bool operator==(const TopMapping&) const = default;
};

// At most so many of each kind: kinds in stack order, the largest of each
// first. What is neither in RAM nor swapped out is left out. A few alone, since
// they are kept of every process.
std::vector<TopMapping> largest_mappings(
    const std::vector<model::Mapping>& mappings,
    const std::vector<model::Region>& regions, size_t each);

}  // namespace tidemark::analysis
