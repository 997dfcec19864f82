// What a person should know about a VM: evidence with its number, then what
// would change it; never a verdict.
#pragma once

#include <vector>

#include "analysis/vm_report.h"

namespace tidemark::analysis {

std::vector<VmFinding> find_in_vm(const VmRow& row);

}  // namespace tidemark::analysis
