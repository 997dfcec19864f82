#pragma once

#include <string>

#include "analysis/maps_report.h"
#include "base/json.h"

namespace tidemark::view {

// Schema "tidemark.maps/1". Every field smaps printed, per mapping.
// With `summary_only` the sums alone.
std::string maps_json(const analysis::MapsReport& report,
                      base::JsonWriter::Layout layout,
                      bool summary_only = false);

}  // namespace tidemark::view
