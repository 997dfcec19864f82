// The address space of one process as a report.
#pragma once

#include "analysis/maps_report.h"
#include "base/result.h"
#include "model/process.h"
#include "source/roots.h"

namespace tidemark::watch {

// Denied, or what else the kernel said, where its mappings may not be read.
base::Result<analysis::MapsReport> read_process_maps(
    const source::Roots& roots, const model::ProcessId& process,
    analysis::MapsSort sort);

}  // namespace tidemark::watch
