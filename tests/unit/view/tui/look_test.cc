#include "view/tui/look.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tidemark::view::tui {
namespace {

using Values = std::vector<std::optional<uint64_t>>;

TEST(Trend, HasTwoValuesToACellInBraille) {
  EXPECT_EQ(trend({}, Values{0, 1, 2, 4}, 2), U"⢀⣼");
}

TEST(Trend, StandsAtTheRightWhenThereIsLittle) {
  EXPECT_EQ(trend({}, Values{4}, 3), U"  ⢸");
}

TEST(Trend, LosesNoPeakWhenThereIsTooMuch) {
  Values values(100, 1);
  values[57] = 1000;
  const std::u32string picture = trend({}, values, 5);
  EXPECT_NE(picture.find_first_of(U"⡇⢸⣿⣇⣸"), std::u32string::npos);
}

TEST(Trend, LeavesTheUnknownEmpty) {
  EXPECT_EQ(trend({}, Values{std::nullopt, std::nullopt}, 1), U" ");
}

TEST(Trend, HasAFormForEachTerminal) {
  Look look;
  look.glyphs = GlyphSet::Blocks;
  EXPECT_EQ(trend(look, Values{1, 4, 8}, 3), U"▁▄█");
  look.glyphs = GlyphSet::Ascii;
  EXPECT_EQ(trend(look, Values{0, 7}, 2), U" #");
}

TEST(ShareCells, FillsTheWholeExactly) {
  const std::vector<uint64_t> parts = {333, 333, 334};
  const std::vector<size_t> cells = share_cells(parts, 1000, 10);
  EXPECT_EQ(std::accumulate(cells.begin(), cells.end(), size_t{0}), 10U);
}

TEST(ShareCells, DrawsNothingForWhatIsBelowACell) {
  const std::vector<uint64_t> parts = {1, 999};
  EXPECT_EQ(share_cells(parts, 1000, 10), (std::vector<size_t>{0, 10}));
}

TEST(BandGlyph, TellsKindsApartWithoutColour) {
  for (GlyphSet glyphs : {GlyphSet::Full, GlyphSet::Ascii}) {
    Look look;
    look.glyphs = glyphs;
    std::u32string seen;
    for (model::Category kind : model::kCategories) {
      const char32_t glyph = band_glyph(look, kind);
      EXPECT_EQ(seen.find(glyph), std::u32string::npos)
          << model::category_name(kind);
      seen += glyph;
    }
  }
}

TEST(Look, TellsKindsApartByShapeWhereThereAreEightColors) {
  Look look;
  look.depth = ColorDepth::Ansi16;
  EXPECT_EQ(band_glyph(look, model::Category::Anon), U'█');
  look.has_bright = false;
  EXPECT_EQ(band_glyph(look, model::Category::Anon), U'▓')
      << "bright cyan may look like the cyan of programs";
  EXPECT_EQ(band_glyph(look, model::Category::Code), U'█');
}

}  // namespace
}  // namespace tidemark::view::tui
