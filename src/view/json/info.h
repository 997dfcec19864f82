// The report of `info` as JSON, tidemark.info/1.
#pragma once

#include <string>

#include "analysis/info_report.h"
#include "base/json.h"

namespace tidemark::view {

std::string info_json(const analysis::InfoReport& report,
                      base::JsonWriter::Layout layout);

}  // namespace tidemark::view
