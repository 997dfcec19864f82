// `objects` as text.
#pragma once

#include <string>

#include "analysis/object_report.h"
#include "view/text/style.h"

namespace tidemark::view {

std::string objects_text(const analysis::ObjectReport& report,
                         const TextStyle& style);

}  // namespace tidemark::view
