// What the terminal can show, decided once; and how roles and pictures come
// out on it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/category.h"
#include "view/tui/canvas.h"

namespace tidemark::view::tui {

enum class ColorDepth { None, Ansi16, Indexed256, True };
// Blocks: a terminal whose font has no braille, like the Linux console.
enum class GlyphSet { Full, Blocks, Ascii };

struct Look {
  ColorDepth depth = ColorDepth::None;
  GlyphSet glyphs = GlyphSet::Full;
  bool is_dark = true;
  // Without, eight colours are all there are: kinds of one colour are told
  // apart by shape, since not every terminal draws bold as bright.
  bool has_bright = true;
  bool has_color() const { return depth != ColorDepth::None; }
  bool is_ascii() const { return glyphs == GlyphSet::Ascii; }
};

struct Ink {
  uint32_t dark_rgb = 0;
  uint32_t light_rgb = 0;
  uint8_t indexed = 0;  // of 256
  uint8_t ansi = 0;     // of 16
};
// Empty: the terminal's own colour.
std::optional<Ink> ink_of(Role role);

// One cell of this kind of memory: told by colour, or by shape without.
char32_t band_glyph(const Look& look, model::Category category);

// A picture of values from 0 to the largest of them, so many cells wide, the
// last value at its end; nothing where nothing is known. Braille has two values
// a cell, blocks and ASCII one.
std::u32string trend(const Look& look,
                     std::span<const std::optional<uint64_t>> values,
                     size_t cells);

// Braille or blocks over several rows, top row first; values from 0 to `top`.
std::vector<std::u32string> tall_trend(
    const Look& look, std::span<const std::optional<uint64_t>> values,
    uint64_t top, size_t cells, size_t rows);

// How many of `cells` each part takes, laid side by side: the borders between
// them are rounded, so the parts of a whole fill it exactly, and one below half
// a cell may have none.
std::vector<size_t> share_cells(std::span<const uint64_t> parts, uint64_t whole,
                                size_t cells);

}  // namespace tidemark::view::tui
