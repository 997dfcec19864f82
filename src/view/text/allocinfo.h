// What the kernel's code holds, as text.
#pragma once

#include <string>

#include "analysis/allocinfo_report.h"
#include "view/text/style.h"

namespace tidemark::view {

std::string allocinfo_text(const analysis::AllocinfoReport& report,
                           const TextStyle& style);

}  // namespace tidemark::view
