// A trace as JSON.
#pragma once

#include <optional>
#include <string>

#include "analysis/trace_report.h"
#include "base/json.h"

namespace tidemark::view {

// With the size of a crash kernel where somebody asked for it.
using AskedCrashKernel = std::optional<model::Reading<analysis::CrashKernel>>;
std::string trace_json(const model::Trace& trace,
                       base::JsonWriter::Layout layout,
                       const AskedCrashKernel& crash = {});

// The same as a value of a document that is open.
void write_trace(base::JsonWriter& json, const model::Trace& trace,
                 const AskedCrashKernel& crash = {});

// Members of the object that is open.
void write_trace_faults(base::JsonWriter& json,
                        const model::TraceFaults& faults);

// The report of that name: an array of tasks with their stacks as nested
// objects.
std::string task_top_json(const analysis::TraceNode& tree);

}  // namespace tidemark::view
