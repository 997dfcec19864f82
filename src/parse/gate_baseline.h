// Parses the file a gate compares with, tidemark.gate-baseline/1. It is written
// by us and edited by people, so what is not understood is an error: a misspelt
// limit would be no limit.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/gate.h"

namespace tidemark::parse {

// The error names the gate.
base::Result<model::GateBaseline> parse_gate_baseline(std::string_view text);

}  // namespace tidemark::parse
