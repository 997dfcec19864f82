// Reads one process out of a proc tree.
//
// The ordinary case is failure: a process ends between two reads, belongs to
// another user, or is being replaced by exec. So each file that cannot be read
// costs its own column; only a process that is not there at all is an error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "model/process.h"
#include "source/cgroups.h"
#include "source/roots.h"
#include "source/smaps_file.h"

namespace tidemark::source {

// What to read besides identity and the rollup. Every entry costs one file or
// more per process.
struct ProcessDetail {
  // Without it the rollup is the sum of the mappings: up to 1 KiB low for each
  // of them, and without the split into anon, file and shmem.
  bool rollup = true;
  // smaps: 3-7 times the cost of the rollup with many mappings.
  bool mappings = false;
  bool threads = false;      // with stack pointers when mappings are read
  bool descriptors = false;  // counted by kind
  bool executable = false;   // where exe points
  bool cgroup = true;
};

class ProcessReader {
 public:
  ProcessReader(const Roots& roots, const CgroupHierarchy& cgroups,
                ProcessDetail detail);

  // NotFound when there is no such process, Gone when it ended meanwhile. One
  // that may not be looked at is a process in that state, known by its pid.
  base::Result<model::Process> read(int32_t pid);

  // Identity alone: one file.
  base::Result<model::ProcessStat> read_stat(int32_t pid);

  // Resident size alone: one file that anyone may read.
  base::Result<model::Statm> read_statm(int32_t pid);

  // All pids, ascending.
  base::Result<std::vector<int32_t>> list_pids() const;

  // Direct children. From task/*/children where the kernel has it.
  base::Result<std::vector<int32_t>> children(int32_t pid);

 private:
  void read_memory(const base::Directory& directory, model::Process& process);
  base::Status read_asked_memory(const base::Directory& directory,
                                 model::Process& process);
  base::Status read_rollup(const base::Directory& directory,
                           model::SmapsFields& fields);
  base::Status read_mappings(const base::Directory& directory,
                             std::vector<model::Mapping>& mappings);
  base::Result<std::vector<model::DescriptorCount>> count_descriptors(
      const base::Directory& directory);
  uint64_t read_memlock(const base::Directory& directory,
                        const std::string& descriptor);
  base::Result<std::vector<int32_t>> children_by_scan(int32_t pid);

  const Roots& roots_;
  const CgroupHierarchy& cgroups_;
  ProcessDetail detail_;
  SmapsReader smaps_;
  std::string buffer_;  // reused for every small file
};

}  // namespace tidemark::source
