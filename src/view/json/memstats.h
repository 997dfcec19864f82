// A VM in the JSON of crosvm's memstats collector, for the tools that draw it.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/vm_report.h"

namespace tidemark::view {

// One record of the array, without the comma. Amounts of processes are in KiB.
// total_memory has the balloon in it whatever the guest's driver does: the
// drawing tools subtract it. Without whole statistics balloon_stats is null.
std::string memstats_record(const analysis::VmRow& row,
                            uint64_t elapsed_seconds);

}  // namespace tidemark::view
