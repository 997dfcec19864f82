// What the kernel's code holds, as CSV. Without a reading before, the fields
// about growth are empty; of a module those of its place are.
#pragma once

#include <string>

#include "analysis/allocinfo_report.h"

namespace tidemark::view {

std::string allocinfo_csv_head();
// One reading's rows, so that a series of readings is one file.
std::string allocinfo_csv_rows(const analysis::AllocinfoReport& report);

}  // namespace tidemark::view
