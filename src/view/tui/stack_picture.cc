#include "view/tui/stack_picture.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tidemark::view::tui {
namespace {

constexpr char32_t kEighths[] = U" ▁▂▃▄▅▆▇█";
constexpr uint64_t kPerCell = 8;

// Where each kind ends, in eighths of a cell from the foot.
std::vector<uint64_t> ends_of(const StackColumn& column, uint64_t top_bytes,
                              uint64_t eighths) {
  std::vector<uint64_t> ends;
  double sum = 0;
  for (uint64_t part : column.parts) {
    sum += static_cast<double>(part);
    const double share = sum / static_cast<double>(top_bytes);
    ends.push_back(std::min(
        eighths, static_cast<uint64_t>(
                     std::lround(share * static_cast<double>(eighths)))));
  }
  return ends;
}

// The kind at this height; none above all of them.
std::optional<size_t> kind_at(const std::vector<uint64_t>& ends,
                              uint64_t height) {
  for (size_t i = 0; i < ends.size(); ++i) {
    if (height < ends[i]) return i;
  }
  return std::nullopt;
}

Cell bordered_cell(std::span<const model::Category> kinds,
                   const std::vector<uint64_t>& ends, uint64_t foot) {
  const std::optional<size_t> lower = kind_at(ends, foot);
  if (!lower) return {};
  Paint ink = paint(role_of(kinds[*lower]));
  const uint64_t border = ends[*lower] - foot;
  if (border >= kPerCell) return {U'█', ink};
  const std::optional<size_t> upper = kind_at(ends, ends[*lower]);
  if (upper) ink.back = role_of(kinds[*upper]);
  return {kEighths[border], ink};
}

}  // namespace

void draw_stack(Canvas& canvas, const Look& look, const PictureBox& box,
                std::span<const model::Category> kinds,
                std::span<const StackColumn> columns, uint64_t top_bytes) {
  if (top_bytes == 0 || box.rows <= 0) return;
  const auto eighths = static_cast<uint64_t>(box.rows) * kPerCell;
  const int shown = std::min(box.columns, static_cast<int>(columns.size()));
  for (int x = 0; x < shown; ++x) {
    const StackColumn& column = columns[static_cast<size_t>(x)];
    if (column.is_missed) {
      canvas.set(box.column + x, box.row + box.rows - 1, U'?',
                 paint(Role::Unknown));
      continue;
    }
    const std::vector<uint64_t> ends = ends_of(column, top_bytes, eighths);
    for (int y = 0; y < box.rows; ++y) {
      const auto foot = static_cast<uint64_t>(box.rows - 1 - y) * kPerCell;
      Cell cell;
      if (look.has_color() && look.has_bright && !look.is_ascii()) {
        cell = bordered_cell(kinds, ends, foot);
      } else if (std::optional<size_t> kind =
                     kind_at(ends, foot + kPerCell / 2)) {
        cell = {band_glyph(look, kinds[*kind]), paint(role_of(kinds[*kind]))};
      }
      if (cell.glyph != U' ')
        canvas.set(box.column + x, box.row + y, cell.glyph, cell.paint);
    }
  }
}

}  // namespace tidemark::view::tui
