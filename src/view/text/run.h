// `run` as text: how much and how it is known, the shape, of what, who, and at
// what price.
#pragma once

#include <string>

#include "analysis/run_report.h"
#include "view/text/style.h"

namespace tidemark::view {

struct RunTextOptions {
  size_t row_limit = 10;  // of each table; the rest is summed up
};

// The first line of the report alone.
std::string run_line(const analysis::RunReport& report, const TextStyle& style);

std::string run_text(const analysis::RunReport& report,
                     const RunTextOptions& options, const TextStyle& style);

}  // namespace tidemark::view
