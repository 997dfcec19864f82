// The report of `peak` as JSON, tidemark.peak/1.
#pragma once

#include <string>

#include "analysis/peak_report.h"
#include "base/json.h"

namespace tidemark::view {

std::string peak_json(const analysis::PeakReport& report,
                      base::JsonWriter::Layout layout);

}  // namespace tidemark::view
