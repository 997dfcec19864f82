// Slab objects in the JSON of a trace.
#pragma once

#include "base/json.h"
#include "model/trace.h"

namespace tidemark::view {

// "slab": {…}; null with a reason in "slab_unknown" where it could not be
// followed, nothing when nobody asked for it.
void write_trace_slab(base::JsonWriter& json, const model::Trace& trace);

}  // namespace tidemark::view
