// The report of `gate` for people: text for a log, Markdown for a summary.
#pragma once

#include <string>

#include "analysis/gate_report.h"
#include "view/text/style.h"

namespace tidemark::view {

// "make -j8: worse, 2.10 GiB is 10.5 % above the baseline of 1.90 GiB".
std::string gate_line(const analysis::GateReport& report);
std::string gate_text(const analysis::GateReport& report,
                      const TextStyle& style);
std::string gate_markdown(const analysis::GateReport& report);

}  // namespace tidemark::view
