// Which object of a scan a mapping is of. A scan asked the links of mappings
// and descriptors, so it tells objects apart as stat does; smaps has the bytes,
// and names its file by numbers that are wrong on btrfs and overlayfs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/mapping.h"
#include "model/object.h"
#include "model/process.h"
#include "model/region.h"
#include "model/sample.h"

namespace tidemark::analysis {

// Memory that lasts as long as somebody has it, and is in RAM or in swap until
// then. The page cache of a file that has a name is nobody's.
bool is_held_memory(model::ObjectKind kind);
model::RegionKind region_kind_of(model::ObjectKind kind);

class GraphScan {
 public:
  // Both must outlive it. Processes that are not the same in both are left out.
  GraphScan(const model::Sample& sample, const model::ObjectScan& scan);

  // Empty when it cannot be told: the file is the one its numbers say, then.
  std::optional<size_t> object_of(size_t process,
                                  const model::Mapping& mapping) const;
  const model::MemoryObject& object(size_t index) const {
    return scan_.objects[index];
  }
  size_t object_count() const { return scan_.objects.size(); }
  // The place in the sample of a process of the scan.
  std::optional<size_t> process_of(const model::ObjectReference& one) const {
    return processes_[one.process_index];
  }

 private:
  const model::ObjectScan& scan_;
  std::vector<std::optional<size_t>> processes_;
  std::vector<std::vector<size_t>> mapped_;  // objects, by place in the sample
};

}  // namespace tidemark::analysis
