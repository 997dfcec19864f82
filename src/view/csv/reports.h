// Reports as CSV: one header line, bytes as plain integers, an empty field for
// an unknown.
#pragma once

#include <string>

#include "analysis/get_report.h"
#include "analysis/maps_report.h"
#include "analysis/ps_report.h"

namespace tidemark::view {

std::string get_csv_head();
// The total first, then each process when asked for.
std::string get_csv_rows(const analysis::GetReport& report,
                         bool with_processes);

std::string ps_csv(const analysis::PsReport& report);

std::string maps_csv(const analysis::MapsReport& report);

}  // namespace tidemark::view
