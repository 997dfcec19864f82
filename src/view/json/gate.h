// The report of `gate` as JSON, tidemark.gate/1, and the file it compares with,
// tidemark.gate-baseline/1.
#pragma once

#include <string>

#include "analysis/gate_report.h"
#include "base/json.h"
#include "model/gate.h"

namespace tidemark::view {

std::string gate_json(const analysis::GateReport& report,
                      base::JsonWriter::Layout layout);

std::string gate_baseline_json(const model::GateBaseline& baseline);

}  // namespace tidemark::view
