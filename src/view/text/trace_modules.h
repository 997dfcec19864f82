// What each module of the kernel has, as a table.
#pragma once

#include <string>

#include "analysis/trace_modules.h"
#include "model/trace.h"
#include "view/text/style.h"

namespace tidemark::view {

std::string trace_modules_text(const analysis::ModuleTable& table,
                               const model::Trace& trace, bool in_pages,
                               const TextStyle& style);

}  // namespace tidemark::view
