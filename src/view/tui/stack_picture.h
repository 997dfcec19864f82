// Kinds of memory on top of each other, over time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/category.h"
#include "view/tui/canvas.h"
#include "view/tui/look.h"

namespace tidemark::view::tui {

// One column of cells: bytes of each kind; empty where nothing was read then.
struct StackColumn {
  std::vector<uint64_t> parts;
  bool is_missed = false;  // a reading was due there and did not come
};

struct PictureBox {
  int column = 0;
  int row = 0;
  int columns = 0;
  int rows = 0;
};

// `kinds` from the bottom up, parallel to the parts; `top_bytes` is the height
// of the box. With colour each border is drawn to an eighth of a cell; without,
// a cell is of the kind at its middle.
void draw_stack(Canvas& canvas, const Look& look, const PictureBox& box,
                std::span<const model::Category> kinds,
                std::span<const StackColumn> columns, uint64_t top_bytes);

}  // namespace tidemark::view::tui
