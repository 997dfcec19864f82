#pragma once

#include <string>

#include "analysis/get_report.h"
#include "base/json.h"

namespace tidemark::view {

// Schema "tidemark.get/1".
std::string get_json(const analysis::GetReport& report,
                     base::JsonWriter::Layout layout);

// The last line of a watch: the highest of its readings, with "is_peak" true.
std::string get_peak_json(const analysis::GetReport& peak,
                          const analysis::PeakReadings& readings);

}  // namespace tidemark::view
