// Objects as CSV: one line each; who has them is told by JSON.
#pragma once

#include <string>

#include "analysis/object_report.h"

namespace tidemark::view {

std::string objects_csv(const analysis::ObjectReport& report);

}  // namespace tidemark::view
