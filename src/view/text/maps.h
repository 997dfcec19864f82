// `maps` as text, in the grammar of Fuchsia's vmaps.
#pragma once

#include <string>

#include "analysis/maps_report.h"
#include "view/text/style.h"

namespace tidemark::view {

struct MapsTextOptions {
  bool explain = false;
  bool summary_only = false;
};

std::string maps_text(const analysis::MapsReport& report,
                      const MapsTextOptions& options, const TextStyle& style);

}  // namespace tidemark::view
