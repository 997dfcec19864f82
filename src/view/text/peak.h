// The text of `peak` and of each step of `replay`.
#pragma once

#include <string>

#include "analysis/peak_report.h"
#include "view/text/style.h"

namespace tidemark::view {

struct PeakTextOptions {
  size_t process_rows = 10;
  bool is_step = false;  // of a replay: composition alone
};

std::string peak_text(const analysis::PeakReport& report,
                      const PeakTextOptions& options, const TextStyle& style);

// "heap of osm2pgsql +1.10 MiB/s over 40 min, robust slope, r² 0.99, …".
std::string trend_text(const analysis::Trend& trend, const TextStyle& style);

}  // namespace tidemark::view
