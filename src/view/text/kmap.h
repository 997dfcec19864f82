// `kmap` as text, in the grammar of vmaps.
#pragma once

#include <string>

#include "analysis/kmap_report.h"
#include "view/text/style.h"

namespace tidemark::view {

struct KmapTextOptions {
  bool all_areas = false;  // each area instead of one line per caller
};

std::string kmap_text(const analysis::KmapReport& report,
                      const KmapTextOptions& options, const TextStyle& style);

}  // namespace tidemark::view
