// `kmap` as JSON. Addresses are strings, because a reader of JSON may keep
// only 53 bits of a number.
#pragma once

#include <string>

#include "analysis/kmap_report.h"
#include "base/json.h"

namespace tidemark::view {

std::string kmap_json(const analysis::KmapReport& report,
                      base::JsonWriter::Layout layout, bool all_areas);

}  // namespace tidemark::view
