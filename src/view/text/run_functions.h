// The part of the report of `run` that tells through which functions of
// programs the memory came.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/run_report.h"
#include "view/text/style.h"

namespace tidemark::view {

// Empty where nobody asked for stacks.
std::string run_functions_text(const analysis::RunReport& report,
                               size_t row_limit, const TextStyle& style);

}  // namespace tidemark::view
