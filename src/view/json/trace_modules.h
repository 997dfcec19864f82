// Modules in the JSON of a trace.
#pragma once

#include "analysis/trace_modules.h"
#include "base/json.h"
#include "model/trace.h"

namespace tidemark::view {

// pages, peak_pages, … inside the open object.
void write_trace_numbers(base::JsonWriter& json,
                         const analysis::TraceNumbers& numbers, bool has_peaks);

// "modules": […], the kernel's image among them under an empty name, and
// "before": {…} unless nobody looked.
void write_trace_modules(base::JsonWriter& json, const model::Trace& trace);

}  // namespace tidemark::view
