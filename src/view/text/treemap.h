// A treemap as a picture of frames, and below it a table of the boxes in it.
#pragma once

#include <string>

#include "analysis/treemap.h"
#include "analysis/treemap_boxes.h"
#include "view/text/style.h"

namespace tidemark::view {

struct TreemapTextOptions {
  analysis::TreemapLimits limits;
  size_t rows = 24;  // of the picture
};

// A name on a frame is whole, the last part of a path, or the number that its
// line in the table has; half a name tells nothing.
std::string treemap_text(const analysis::Treemap& map,
                         const TreemapTextOptions& options,
                         const TextStyle& style);

// The picture alone. Boxes have the numbers that they would have in the table.
std::string treemap_picture(const analysis::TreemapBox& root,
                            const analysis::TreemapScreen& screen,
                            const TextStyle& style);

}  // namespace tidemark::view
