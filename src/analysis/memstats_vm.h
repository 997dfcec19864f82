// What crosvm's memstats collector wrote down, as scans of a VM, so that it is
// drawn by the same rules as what we read ourselves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/memstats.h"
#include "model/vm.h"

namespace tidemark::analysis {

// The file has totals of each process and no mappings. Guest RAM is memory that
// the processes share, so it is told by their Pss_Shmem, of all together; where
// that is missing it stays unknown. What the guest was given is not told. Its
// total always has the balloon in it: crosvm offers to deflate on OOM.
std::vector<model::VmScan> memstats_scans(
    std::span<const model::MemstatsRecord> records, uint64_t begin_realtime_ns);

}  // namespace tidemark::analysis
