// The report of `diff` as JSON, tidemark.diff/1.
#pragma once

#include <string>

#include "analysis/diff_report.h"
#include "base/json.h"

namespace tidemark::view {

std::string diff_json(const analysis::DiffReport& report,
                      base::JsonWriter::Layout layout);

}  // namespace tidemark::view
