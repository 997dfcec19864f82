// The text of `info`.
#pragma once

#include <string>

#include "analysis/info_report.h"
#include "view/text/style.h"

namespace tidemark::view {

// `verbose` lists every process and every table.
std::string info_text(const analysis::InfoReport& report, bool verbose,
                      const TextStyle& style);

}  // namespace tidemark::view
