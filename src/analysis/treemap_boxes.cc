#include "analysis/treemap_boxes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/treemap_layout.h"

namespace tidemark::analysis {
namespace {

// A character is about twice as high as it is wide.
constexpr double kCellHeight = 2;

CellRect cells_of(const TreemapRect& rect) {
  const auto cell = [](double edge) {
    return static_cast<size_t>(std::lround(edge));
  };
  return {cell(rect.left), cell(rect.top / kCellHeight), cell(rect.right),
          cell(rect.bottom / kCellHeight)};
}

bool has_room(const CellRect& cells) {
  return cells.right >= cells.left + kLeastBoxColumns &&
         cells.bottom > cells.top;
}

std::vector<CellRect> place(const std::vector<TreemapNode>& children,
                            size_t kept, const TreemapRect& area) {
  std::vector<uint64_t> sizes;
  for (size_t i = 0; i < kept; ++i)
    sizes.push_back(children[i].bytes);
  if (kept < children.size()) {
    sizes.push_back(treemap_other(children, kept).bytes);
  }
  std::vector<CellRect> cells;
  for (const TreemapRect& rect : squarified(sizes, area))
    cells.push_back(cells_of(rect));
  return cells;
}

// How many of the children, largest first, have room for a box of their own
// when the others share one.
struct Placement {
  size_t kept = 0;
  std::vector<CellRect> cells;
};

Placement find_placement(const TreemapNode& node, const TreemapLimits& limits,
                         const CellRect& inside) {
  const TreemapRect area{static_cast<double>(inside.left),
                         kCellHeight * static_cast<double>(inside.top),
                         static_cast<double>(inside.right),
                         kCellHeight * static_cast<double>(inside.bottom)};
  const double cells =
      area.width() * (area.height() / kCellHeight) / kLeastBoxColumns;
  size_t kept = 0;
  const size_t most = static_cast<size_t>(std::min<uint64_t>(
      limits.top.value_or(node.children.size()), node.children.size()));
  // No layout makes room for what has not the cells for it.
  while (kept < most &&
         static_cast<double>(node.children[kept].bytes) * cells >=
             0.5 * static_cast<double>(node.bytes) &&
         node.children[kept].bytes > 0)
    ++kept;
  while (kept > 0) {
    std::vector<CellRect> placed = place(node.children, kept, area);
    size_t fitting = 0;
    while (fitting < kept && has_room(placed[fitting]))
      ++fitting;
    if (fitting == kept) return {kept, std::move(placed)};
    // Fewer, but not all behind the first misfit: with a larger box for the
    // others the shapes change, and it may fit then.
    kept = std::min(kept - 1, std::max(fitting, kept - kept / 8));
  }
  return {};
}

TreemapBox lay_out(const TreemapNode& node, const TreemapLimits& limits,
                   const CellRect& cells) {
  TreemapBox box{without_children(node), cells, {}};
  if (limits.depth == 0 || node.children.empty() ||
      cells.bottom < cells.top + 2) {
    return box;
  }
  TreemapLimits below = limits;
  if (below.depth) --*below.depth;
  const CellRect inside{cells.left, cells.top + 1, cells.right, cells.bottom};
  const Placement placement = find_placement(node, limits, inside);
  if (placement.kept == 0) return box;
  for (size_t i = 0; i < placement.kept; ++i)
    box.children.push_back(
        lay_out(node.children[i], below, placement.cells[i]));
  if (placement.kept < node.children.size()) {
    // A single one keeps its name in the table.
    const bool is_single = placement.kept + 1 == node.children.size();
    TreemapBox other{is_single ? without_children(node.children.back())
                               : treemap_other(node.children, placement.kept),
                     std::nullopt,
                     {}};
    const CellRect& rest = placement.cells.back();
    const bool is_visible =
        rest.right > rest.left + 1 && rest.bottom > rest.top;
    if (is_visible) other.cells = rest;
    box.children.push_back(std::move(other));
  }
  return box;
}

}  // namespace

TreemapBox lay_out_treemap(const TreemapNode& root, const TreemapLimits& limits,
                           const TreemapScreen& screen) {
  return lay_out(root, limits, {0, 0, screen.columns - 1, screen.rows - 1});
}

}  // namespace tidemark::analysis
