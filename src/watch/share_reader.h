// Reads what only smaps_rollup tells of every process: PSS, USS, swapped
// shares. It costs time and makes a process wait, so it has a slow clock.
#pragma once

#include <atomic>
#include <cstdint>

#include "analysis/metrics_report.h"
#include "analysis/vm_report.h"
#include "source/cgroups.h"
#include "source/process_reader.h"
#include "source/roots.h"

namespace tidemark::watch {

struct ShareOptions {
  // A process that would have to wait longer for its own lock is not read.
  uint64_t stall_ns = 50'000'000;
  bool with_vms = true;
};

class ShareReader {
 public:
  ShareReader(const source::Roots& roots, const ShareOptions& options);

  // Ends early, with what is read so far, once `is_ending`.
  analysis::ShareReading read(const std::atomic<bool>& is_ending);

 private:
  void read_process(int32_t pid, analysis::ShareReading& reading);
  void read_vms(analysis::ShareReading& reading);

  const source::Roots& roots_;
  ShareOptions options_;
  source::CgroupHierarchy cgroups_;
  source::ProcessReader reader_;
  source::ProcessReader light_reader_;  // of identity alone
  analysis::KernelCosts costs_;
  analysis::VmHistory vm_history_;
};

}  // namespace tidemark::watch
