// What there was before a trace began, as rows: written once, read whole.
#pragma once

#include <optional>

#include "base/result.h"
#include "model/trace_modules.h"
#include "store/database.h"
#include "store/interned.h"

namespace tidemark::store {

// Does nothing where the file tells of it already.
base::Status write_trace_before(Database& database,
                                const model::TraceBefore& before,
                                Interned& interned);

// Empty: it is not in the file. Malformed where it contradicts itself.
base::Result<std::optional<model::TraceBefore>> read_trace_before(
    Database& database);

}  // namespace tidemark::store
