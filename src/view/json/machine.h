// The machine over the time of a recording as JSON, tidemark.machine/1.
#pragma once

#include <string>

#include "analysis/machine_history.h"
#include "base/json.h"

namespace tidemark::view {

std::string machine_json(const analysis::MachineHistory& history,
                         base::JsonWriter::Layout layout);

}  // namespace tidemark::view
