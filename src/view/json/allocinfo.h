// What the kernel's code holds, as JSON.
#pragma once

#include <string>

#include "analysis/allocinfo_report.h"
#include "base/json.h"

namespace tidemark::view {

// Members about growth are there only with a reading before. Of the kernel's
// own code the module is an empty string.
std::string allocinfo_json(const analysis::AllocinfoReport& report,
                           base::JsonWriter::Layout layout);

}  // namespace tidemark::view
