// `vm` as JSON: tidemark.vm/1.
#pragma once

#include <string>

#include "analysis/vm_report.h"
#include "base/json.h"

namespace tidemark::view {

// The same wherever findings are told.
void write_vm_finding(base::JsonWriter& json,
                      const analysis::VmFinding& finding);

std::string vm_json(const analysis::VmReport& report,
                    base::JsonWriter::Layout layout);

}  // namespace tidemark::view
