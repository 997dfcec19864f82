// A trace as text. Reports that memstrack has look as its do; ours are tables.
#pragma once

#include <string>

#include "analysis/trace_report.h"
#include "view/text/style.h"

namespace tidemark::view {

struct TraceTextOptions {
  bool in_pages = false;     // instead of bytes
  bool has_banners = false;  // around each report, as memstrack prints them
};

// Everything that makes its numbers too high or too low, in one line; empty:
// nothing does.
std::string trace_losses(const model::TraceFaults& faults);

std::string trace_text(const analysis::TraceReport& report,
                       const TraceTextOptions& options, const TextStyle& style);

}  // namespace tidemark::view
