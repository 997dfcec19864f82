// `vm record`: VMs in a recording, with their processes and what guests say.
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "source/roots.h"
#include "source/vm/vm_source.h"
#include "watch/loop.h"
#include "watch/stop_signals.h"

namespace tidemark::cli {

struct VmRecordOptions {
  const CommonOptions& common;
  const watch::LoopOptions& loop;
  const source::VmScanOptions& scan;
};

// The monitors, all below them, and who shares their guests' memory when it
// starts; until the last has ended. Detail is read as `record` reads it, within
// its budget: reading smaps of a large guest makes its monitor wait.
base::Status record_vms(const source::Roots& roots, source::VmSource& source,
                        const VmRecordOptions& options,
                        watch::StopSignals& signals);

}  // namespace tidemark::cli
