// `system` as CSV: a row per reading, an empty field where it is unknown.
#pragma once

#include <string>

#include "analysis/system_report.h"

namespace tidemark::view {

std::string system_csv_head();
std::string system_csv_row(const analysis::SystemReport& report);

}  // namespace tidemark::view
