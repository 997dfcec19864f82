// Memory over time as JSON, tidemark.timeline/1: what the browser draws.
#pragma once

#include <string>

#include "analysis/timeline_report.h"
#include "base/json.h"

namespace tidemark::view {

std::string timeline_json(const analysis::TimelineReport& report,
                          base::JsonWriter::Layout layout);

}  // namespace tidemark::view
