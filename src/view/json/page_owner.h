// Groups of page_owner's records as JSON.
#pragma once

#include <string>

#include "analysis/page_owner_report.h"
#include "base/json.h"

namespace tidemark::view {

// What the records of a group do not share, or do not tell, has no member.
std::string page_owner_json(const analysis::PageOwnerReport& report,
                            base::JsonWriter::Layout layout);

}  // namespace tidemark::view
