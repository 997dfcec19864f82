#include "analysis/treemap_layout.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace tidemark::analysis {
namespace {

// How far from a square the worst of a row is, when the row's sizes take
// `length` along the side they stand on. `scale` is area for each unit of size.
double worst_ratio(double largest, double smallest, double sum, double length,
                   double scale) {
  if (sum <= 0 || smallest <= 0) return std::numeric_limits<double>::infinity();
  const double thickness = sum * scale / length;
  const double longest = largest * scale / thickness;
  const double shortest = smallest * scale / thickness;
  return std::max({longest / thickness, thickness / longest,
                   shortest / thickness, thickness / shortest});
}

// The sizes from `begin` on that make the best row.
size_t end_of_row(const std::vector<uint64_t>& sizes, size_t begin, size_t end,
                  double length, double scale) {
  double sum = 0;
  double best = std::numeric_limits<double>::infinity();
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (size_t i = begin; i < end; ++i) {
    const auto size = static_cast<double>(sizes[i]);
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
    sum += size;
    const double ratio = worst_ratio(largest, smallest, sum, length, scale);
    if (ratio > best) return i;
    best = ratio;
  }
  return end;
}

// Puts sizes side by side into `row`; the last ends where the row does.
void fill_row(const std::vector<uint64_t>& sizes, size_t begin, size_t end,
              double sum, const TreemapRect& row, bool is_column,
              std::vector<TreemapRect>& rects) {
  const double from = is_column ? row.top : row.left;
  const double to = is_column ? row.bottom : row.right;
  double before = 0;
  double edge = from;
  for (size_t i = begin; i < end; ++i) {
    before += static_cast<double>(sizes[i]);
    const double next =
        i + 1 == end ? to : std::min(to, from + (to - from) * (before / sum));
    rects[i] = is_column ? TreemapRect{row.left, edge, row.right, next}
                         : TreemapRect{edge, row.top, next, row.bottom};
    edge = next;
  }
}

}  // namespace

std::vector<TreemapRect> squarified(const std::vector<uint64_t>& sizes,
                                    const TreemapRect& area) {
  const TreemapRect nothing{area.right, area.bottom, area.right, area.bottom};
  std::vector<TreemapRect> rects(sizes.size(), nothing);
  // Empty ones at the end would make rows of no thickness.
  size_t count = sizes.size();
  while (count > 0 && sizes[count - 1] == 0)
    --count;
  double left_over = 0;
  for (size_t i = 0; i < count; ++i)
    left_over += static_cast<double>(sizes[i]);
  TreemapRect free = area;
  for (size_t begin = 0; begin < count;) {
    const bool is_column = free.width() >= free.height();
    const double length = is_column ? free.height() : free.width();
    const double thick = is_column ? free.width() : free.height();
    if (length <= 0 || thick <= 0) break;
    const double scale = length * thick / left_over;
    const size_t end = end_of_row(sizes, begin, count, length, scale);
    double sum = 0;
    for (size_t i = begin; i < end; ++i)
      sum += static_cast<double>(sizes[i]);
    const double part = end == count ? 1 : std::min(1.0, sum / left_over);
    TreemapRect row = free;
    if (is_column) {
      row.right = end == count ? free.right : free.left + thick * part;
      free.left = row.right;
    } else {
      row.bottom = end == count ? free.bottom : free.top + thick * part;
      free.top = row.bottom;
    }
    fill_row(sizes, begin, end, sum, row, is_column, rects);
    left_over = std::max(0.0, left_over - sum);
    begin = end;
  }
  return rects;
}

}  // namespace tidemark::analysis
