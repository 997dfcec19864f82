// `objects` as JSON.
#pragma once

#include <string>

#include "analysis/object_report.h"
#include "base/json.h"

namespace tidemark::view {

std::string objects_json(const analysis::ObjectReport& report,
                         base::JsonWriter::Layout layout);

}  // namespace tidemark::view
