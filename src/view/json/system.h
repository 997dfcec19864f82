// `system` as JSON, one object per reading.
#pragma once

#include <string>

#include "analysis/system_report.h"
#include "base/json.h"

namespace tidemark::view {

std::string system_json(const analysis::SystemReport& report,
                        base::JsonWriter::Layout layout, bool with_terms);

}  // namespace tidemark::view
