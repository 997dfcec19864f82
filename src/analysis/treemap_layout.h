// Squarified treemaps: sizes laid out as rectangles that are as near to squares
// as rows of them allow.
#pragma once

#include <cstdint>
#include <vector>

namespace tidemark::analysis {

// By its edges and not by its width, so that neighbours have the same number
// where they meet and rounding cannot part them.
struct TreemapRect {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
  bool operator==(const TreemapRect&) const = default;
};

// One rectangle for each size, in their order, which should be largest first.
// Their areas are as the sizes, they do not overlap, and together they are
// `area`. A size of zero has an empty one.
std::vector<TreemapRect> squarified(const std::vector<uint64_t>& sizes,
                                    const TreemapRect& area);

}  // namespace tidemark::analysis
