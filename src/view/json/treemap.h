// A treemap as JSON: the tree of boxes, each with what is in it. Children add
// up to their parent to the byte, by every measure that is known of them. A
// size that is left out is not known.
#pragma once

#include <string>

#include "analysis/treemap.h"
#include "base/json.h"

namespace tidemark::view {

std::string treemap_json(const analysis::Treemap& map,
                         const analysis::TreemapLimits& limits,
                         base::JsonWriter::Layout layout);

}  // namespace tidemark::view
