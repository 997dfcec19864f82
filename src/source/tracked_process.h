// One process that is read again and again, as a recording does: its directory
// and two of its files stay open, so that an idle process costs two small
// reads a tick (5 us) and a reused pid is never taken for it.
//
// Detail comes in tiers (model::DetailTier); who reads what when is decided by
// the caller, who knows the budget.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "model/process.h"
#include "source/cgroups.h"
#include "source/roots.h"
#include "source/smaps_file.h"

namespace tidemark::source {

class TrackedProcess {
 public:
  // NotFound or Gone when there is no such process. One that may be seen but
  // not read is tracked in the state Denied.
  static base::Result<TrackedProcess> open(const Roots& roots, int32_t pid);

  const model::ProcessId& id() const { return process_.id; }
  // As last read; without mappings.
  const model::Process& process() const { return process_; }

  // Reads the kernel's counters and notices exec. Gone when it has ended.
  base::Status read_counters(const CgroupHierarchy& cgroups);

  // Whether counters or image have changed since the mappings were last read.
  bool has_new_image() const { return has_new_image_; }

  // Both set `mappings`, `threads`, `images` and `tier` of `out` and leave its
  // other fields alone; what `out` holds of mappings is written over, so that
  // its memory is used again.
  base::Status read_full(SmapsReader& reader, model::Process& out);
  // Unsupported before 6.7. Holds the process's lock for 512 pages at a time.
  base::Status read_scan(model::Process& out);

  // CPU time of the last reading of mappings: for so long at most it kept the
  // process from its own map. Wall time would count what we waited ourselves.
  uint64_t last_cpu_ns() const { return last_cpu_ns_; }

 private:
  TrackedProcess() = default;
  base::Status read_stat();
  void follow_living_thread(model::ProcessStat& stat);
  void read_statm();
  void read_status();
  void read_identity(const CgroupHierarchy& cgroups);
  void refresh_hints(const std::vector<model::Mapping>& mappings);
  void set_detail(model::DetailTier tier, model::Process& out);

  base::Directory directory_;
  // Of its first thread, once that has ended and it is read through another.
  std::optional<base::Directory> first_;
  base::Fd stat_;
  base::Fd statm_;
  bool is_live_ = false;
  model::Process process_;
  std::string buffer_;
  uint64_t reading_count_ = 0;
  bool has_identity_ = false;
  bool has_new_image_ = true;
  uint64_t last_cpu_ns_ = 0;
  // Threads and images of the last mappings, read again when those change.
  model::Reading<std::vector<model::Thread>> threads_;
  std::vector<model::ImageSpan> images_;
  size_t hinted_mapping_count_ = 0;
  uint64_t hinted_thread_count_ = 0;
  uint64_t hinted_reading_ = 0;
};

}  // namespace tidemark::source
