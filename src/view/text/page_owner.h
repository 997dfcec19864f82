// Groups of page_owner's records as text.
#pragma once

#include <string>

#include "analysis/page_owner_report.h"
#include "view/text/style.h"

namespace tidemark::view {

// A table; with stacks a paragraph for each group.
std::string page_owner_text(const analysis::PageOwnerReport& report,
                            const TextStyle& style);

}  // namespace tidemark::view
