// What a trace tells of a boot, as members of the object that is open.
#pragma once

#include "analysis/crash_kernel.h"
#include "base/json.h"
#include "model/trace.h"

namespace tidemark::view {

// By every stack that a module is on: these overlap.
void write_module_shares(base::JsonWriter& json, const model::Trace& trace);

void write_crash_kernel(base::JsonWriter& json,
                        const model::Reading<analysis::CrashKernel>& crash);

}  // namespace tidemark::view
