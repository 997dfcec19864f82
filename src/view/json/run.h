// `run` as JSON, schema tidemark.run/1.
#pragma once

#include <string>

#include "analysis/run_report.h"
#include "base/json.h"

namespace tidemark::view {

// Times of processes and of the history are nanoseconds since the start.
std::string run_json(const analysis::RunReport& report,
                     base::JsonWriter::Layout layout);

}  // namespace tidemark::view
