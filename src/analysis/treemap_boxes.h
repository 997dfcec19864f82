// A treemap on a screen of characters. A box is a frame whose upper edge has
// the name on it; what is in it stands below that line, and neighbours share
// the line between them. What would be too small to carry a name goes into one
// box with its likes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/treemap.h"

namespace tidemark::analysis {

// The columns and rows that the lines of its frame are in.
struct CellRect {
  size_t left = 0;
  size_t top = 0;
  size_t right = 0;
  size_t bottom = 0;
  bool operator==(const CellRect&) const = default;
};

struct TreemapBox {
  TreemapNode node;  // without its children
  // Empty: even together with its likes it has no place.
  std::optional<CellRect> cells;
  std::vector<TreemapBox> children;  // add up to the node, if there are any
};

struct TreemapScreen {
  size_t columns = 80;
  size_t rows = 24;
};

// Below this a frame holds no name that tells anything.
inline constexpr size_t kLeastBoxColumns = 8;

TreemapBox lay_out_treemap(const TreemapNode& root, const TreemapLimits& limits,
                           const TreemapScreen& screen);

}  // namespace tidemark::analysis
