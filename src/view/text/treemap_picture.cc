#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/text.h"
#include "view/text/treemap.h"
#include "view/text/treemap_words.h"

namespace tidemark::view {
namespace {

using analysis::CellRect;
using analysis::TreemapBox;
using analysis::TreemapKind;
using analysis::TreemapScreen;

// Ways that lines leave a cell.
constexpr uint8_t kUp = 1;
constexpr uint8_t kDown = 2;
constexpr uint8_t kLeft = 4;
constexpr uint8_t kRight = 8;

// By the sum of them.
constexpr std::array<std::string_view, 16> kLines = {
    " ", "│", "│", "│", "─", "┘", "┐", "┤",
    "─", "└", "┌", "├", "─", "┴", "┬", "┼"};

std::string_view line_glyph(uint8_t ways, bool is_utf8) {
  if (is_utf8) return kLines[ways];
  if (ways == 0) return " ";
  const bool is_vertical = (ways & (kLeft | kRight)) == 0;
  const bool is_horizontal = (ways & (kUp | kDown)) == 0;
  return is_vertical ? "|" : is_horizontal ? "-" : "+";
}

struct Label {
  std::string text;
  size_t columns = 0;
  Ink ink = Ink::Plain;
};

class Canvas {
 public:
  explicit Canvas(const TreemapScreen& screen)
      : screen_(screen), ways_(screen.columns * screen.rows) {}

  void frame(const CellRect& cells) {
    for (size_t x = cells.left; x < cells.right; ++x) {
      for (size_t y : {cells.top, cells.bottom}) {
        at(x, y) |= kRight;
        at(x + 1, y) |= kLeft;
      }
    }
    for (size_t y = cells.top; y < cells.bottom; ++y) {
      for (size_t x : {cells.left, cells.right}) {
        at(x, y) |= kDown;
        at(x, y + 1) |= kUp;
      }
    }
  }
  void put(size_t x, size_t y, Label label) {
    labels_[{y, x}] = std::move(label);
  }

  std::string render(const TextStyle& style) const {
    std::string out;
    for (size_t y = 0; y < screen_.rows; ++y)
      out += render_row(style, y) + "\n";
    return out;
  }

 private:
  uint8_t& at(size_t x, size_t y) { return ways_[y * screen_.columns + x]; }

  std::string render_row(const TextStyle& style, size_t y) const {
    std::string out;
    std::string lines;
    size_t x = 0;
    const auto flush = [&] {
      out += paint(style, Ink::Dim, std::exchange(lines, {}));
    };
    while (x < screen_.columns) {
      const auto label = labels_.find({y, x});
      if (label != labels_.end() && label->second.columns > 0) {
        flush();
        out += paint(style, label->second.ink, label->second.text);
        x += label->second.columns;
        continue;
      }
      lines += line_glyph(ways_[y * screen_.columns + x], style.utf8);
      ++x;
    }
    flush();
    return out;
  }

  TreemapScreen screen_;
  std::vector<uint8_t> ways_;
  std::map<std::pair<size_t, size_t>, Label> labels_;
};

// The longest of its forms that fits on the upper edge.
std::string label_of(const TextStyle& style, const TreemapBox& box,
                     size_t number, size_t room) {
  const std::string size = " " + dense(style, std::optional(box.node.bytes));
  const std::string name = treemap_name(style, box.node);
  const std::string last = treemap_short_name(style, box.node);
  const std::string place = "#" + std::to_string(number);
  for (const std::string& form :
       {name + size, last + size, name, last, place + size, place}) {
    // A blank on each side keeps it off the corners.
    if (base::display_width(form) + 2 <= room) return " " + form + " ";
  }
  return "";
}

Ink ink_of(const analysis::TreemapNode& node) {
  switch (node.kind) {
    case TreemapKind::Rest:
    case TreemapKind::Other:
      return Ink::Dim;
    case TreemapKind::Process:
      return Ink::Bold;
    default:
      return Ink::Plain;
  }
}

void draw(const TreemapBox& box, const TextStyle& style, size_t& number,
          Canvas& canvas) {
  const size_t own = ++number;
  if (box.cells) {
    canvas.frame(*box.cells);
    const size_t room = box.cells->right - box.cells->left - 1;
    const std::string text = label_of(style, box, own, room);
    canvas.put(box.cells->left + 1, box.cells->top,
               {text, base::display_width(text), ink_of(box.node)});
  }
  for (const TreemapBox& child : box.children)
    draw(child, style, number, canvas);
}

}  // namespace

std::string treemap_picture(const TreemapBox& root, const TreemapScreen& screen,
                            const TextStyle& style) {
  Canvas canvas(screen);
  size_t number = 0;
  draw(root, style, number, canvas);
  return canvas.render(style);
}

}  // namespace tidemark::view
