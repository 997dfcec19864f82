#include "view/tui/look.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tidemark::view::tui {
namespace {

struct Band {
  Ink ink;
  char32_t shape;  // without colour
  char32_t ascii;
};
// In the order of model::kCategories; the colours of the whole project.
constexpr std::array<Band, model::kCategoryCount> kBands = {{
    {{0x5282d4, 0x43709f, 68, 4}, U'█', U'#'},    // heap
    {{0x58bfe6, 0x6cc0f2, 74, 14}, U'▓', U'%'},   // anon
    {{0x625fb8, 0x3b2971, 61, 12}, U'▚', U't'},   // stack
    {{0xdcbb4c, 0xdcb432, 178, 3}, U'▒', U'='},   // shm
    {{0x84b08b, 0x7aa87f, 108, 2}, U'░', U'-'},   // file
    {{0x12786f, 0x0d5f50, 30, 6}, U'▞', U'l'},    // code
    {{0x939a1c, 0x7d7611, 100, 11}, U'▙', U'H'},  // huge
    {{0xa47ead, 0x9a78d8, 139, 13}, U'╱', U'/'},  // swap
    {{0xc6558e, 0xa63a5b, 132, 5}, U'▤', U's'},   // slab
    {{0xcc8265, 0xdc8650, 173, 9}, U'▥', U'p'},   // ptab
    {{0xa4552a, 0x641c12, 130, 1}, U'▦', U'k'},   // kern
    {{0x98a2ad, 0x7d8691, 247, 7}, U'▧', U'b'},   // wired
    {{0x7d8894, 0x6b7580, 245, 8}, U'·', U'.'},   // free
    {{0x7d8894, 0x6b7580, 245, 7}, U'╲', U'?'},   // unnamed
}};

const Band& band_of(model::Category category) {
  return kBands[static_cast<size_t>(category)];
}

constexpr char32_t kBlocks[] = U" ▁▂▃▄▅▆▇█";
constexpr char32_t kAsciiLevels[] = U" .:-=+*#";

// Dots of a braille cell from the bottom up, left and right column.
constexpr std::array<uint32_t, 5> kLeftDots = {0, 0x40, 0x44, 0x46, 0x47};
constexpr std::array<uint32_t, 5> kRightDots = {0, 0x80, 0xa0, 0xb0, 0xb8};

// `levels` steps from 0 to `top`; what is there at all shows.
size_t level_of(std::optional<uint64_t> value, uint64_t top, size_t levels) {
  if (!value || *value == 0 || top == 0) return 0;
  const double share =
      static_cast<double>(std::min(*value, top)) / static_cast<double>(top);
  const auto level =
      static_cast<size_t>(std::lround(share * static_cast<double>(levels)));
  return std::clamp<size_t>(level, 1, levels);
}

// The values of so many columns, the last ones; those before the first are
// unknown.
std::vector<std::optional<uint64_t>> last_columns(
    std::span<const std::optional<uint64_t>> values, size_t columns) {
  std::vector<std::optional<uint64_t>> out(columns);
  if (values.empty() || columns == 0) return out;
  if (values.size() <= columns) {
    std::ranges::copy(values,
                      out.end() - static_cast<ptrdiff_t>(values.size()));
    return out;
  }
  // The highest of each stretch: no peak is lost.
  for (size_t i = 0; i < columns; ++i) {
    const size_t first = i * values.size() / columns;
    const size_t end = (i + 1) * values.size() / columns;
    for (size_t k = first; k < end; ++k) {
      if (values[k] && (!out[i] || *out[i] < *values[k])) out[i] = values[k];
    }
  }
  return out;
}

size_t clamp_level(size_t level, size_t from_row, size_t per_row) {
  const size_t below = from_row * per_row;
  return level <= below ? 0 : std::min(level - below, per_row);
}

}  // namespace

std::optional<Ink> ink_of(Role role) {
  switch (role) {
    case Role::Terminal:
    case Role::Plain:
    case Role::Strong:
      return std::nullopt;
    case Role::Dim:
      return Ink{0x8b96a2, 0x5b6570, 245, 8};
    case Role::Growth:
      return Ink{0xf0a063, 0xa85412, 215, 3};
    case Role::Fall:
      return Ink{0x7fbdf0, 0x1f6aa8, 111, 6};
    case Role::Unknown:
      return Ink{0xf0b949, 0x8a6100, 214, 11};
    case Role::Chosen:
      return Ink{0x27303b, 0xdfe6ee, 236, 8};
    default:
      break;
  }
  const size_t kind =
      static_cast<size_t>(role) - static_cast<size_t>(Role::Kinds);
  return kBands[kind].ink;
}

char32_t band_glyph(const Look& look, model::Category category) {
  const Band& band = band_of(category);
  if (look.is_ascii()) return band.ascii;
  if (!look.has_color()) return band.shape;
  if (category == model::Category::Free) return U'░';
  constexpr uint8_t kBright = 8;
  if (!look.has_bright && band.ink.ansi >= kBright) return band.shape;
  if (category == model::Category::Unnamed) return U'╱';
  if (category == model::Category::Swap) return U'▀';
  return U'█';
}

std::vector<std::u32string> tall_trend(
    const Look& look, std::span<const std::optional<uint64_t>> values,
    uint64_t top, size_t cells, size_t rows) {
  const bool is_braille = look.glyphs == GlyphSet::Full;
  const size_t per_row = is_braille ? 4 : look.is_ascii() ? 7 : 8;
  const std::vector<std::optional<uint64_t>> shown =
      last_columns(values, is_braille ? cells * 2 : cells);
  std::vector<std::u32string> lines(rows, std::u32string(cells, U' '));
  for (size_t row = 0; row < rows; ++row) {
    const size_t from_bottom = rows - 1 - row;
    for (size_t cell = 0; cell < cells; ++cell) {
      const auto level = [&](size_t column) {
        return clamp_level(level_of(shown[column], top, per_row * rows),
                           from_bottom, per_row);
      };
      if (is_braille) {
        const uint32_t dots =
            kLeftDots[level(cell * 2)] | kRightDots[level(cell * 2 + 1)];
        if (dots != 0) lines[row][cell] = static_cast<char32_t>(0x2800U | dots);
      } else {
        lines[row][cell] =
            look.is_ascii() ? kAsciiLevels[level(cell)] : kBlocks[level(cell)];
      }
    }
  }
  return lines;
}

std::u32string trend(const Look& look,
                     std::span<const std::optional<uint64_t>> values,
                     size_t cells) {
  uint64_t top = 0;
  for (const std::optional<uint64_t>& value : values)
    top = std::max(top, value.value_or(0));
  return tall_trend(look, values, top, cells, 1).front();
}

std::vector<size_t> share_cells(std::span<const uint64_t> parts, uint64_t whole,
                                size_t cells) {
  std::vector<size_t> shares(parts.size());
  if (whole == 0) return shares;
  // Borders are rounded, not widths: so no rounding error adds up.
  uint64_t before = 0;
  size_t last = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    before += parts[i];
    const double border = static_cast<double>(std::min(before, whole)) /
                          static_cast<double>(whole) *
                          static_cast<double>(cells);
    const auto end = std::min(cells, static_cast<size_t>(std::lround(border)));
    shares[i] = end - last;
    last = end;
  }
  return shares;
}

}  // namespace tidemark::view::tui
