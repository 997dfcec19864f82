// Groups of page_owner's records as CSV. The frames of a stack stand in one
// field, innermost first, parted by semicolons.
#pragma once

#include <string>

#include "analysis/page_owner_report.h"

namespace tidemark::view {

std::string page_owner_csv(const analysis::PageOwnerReport& report);

}  // namespace tidemark::view
