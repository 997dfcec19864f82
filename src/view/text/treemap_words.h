// What a box of a treemap is called, in its picture and in its table.
#pragma once

#include <string>

#include "analysis/treemap.h"
#include "view/text/style.h"

namespace tidemark::view {

// "libc.so ×3", "other (12)": safe to print.
std::string treemap_name(const TextStyle& style,
                         const analysis::TreemapNode& node);

// With the last part of a path alone.
std::string treemap_short_name(const TextStyle& style,
                               const analysis::TreemapNode& node);

}  // namespace tidemark::view
