// Takes a picture of a tree of processes: every mapping of every process, and
// the account of their group, as close together in time as reading allows.
#pragma once

#include <cstdint>
#include <vector>

#include "model/run.h"
#include "source/cgroups.h"
#include "source/process_reader.h"
#include "source/roots.h"
#include "source/target/memory_group.h"

namespace tidemark::source {

class TreeCamera {
 public:
  explicit TreeCamera(const Roots& roots);

  // The processes in the order given, so the largest should come first: they
  // are the ones worth catching before they shrink. `group` may be null.
  model::Capture take(const std::vector<int32_t>& pids,
                      const MemoryGroup* group);

 private:
  CgroupHierarchy no_cgroups_;
  ProcessReader reader_;
};

}  // namespace tidemark::source
