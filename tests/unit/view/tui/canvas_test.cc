#include "view/tui/canvas.h"

#include <gtest/gtest.h>

namespace tidemark::view::tui {
namespace {

TEST(Canvas, ClipsWhatIsDrawnBeyondItsEdges) {
  Canvas canvas(4, 2);
  canvas.put(2, 0, "abcdef", {});
  canvas.put(-2, 1, "abcdef", {});
  canvas.put(0, 7, "nowhere", {});
  EXPECT_EQ(canvas.to_text(), "  ab\ncdef\n");
}

TEST(Canvas, PutsNumbersBeforeTheirEnd) {
  Canvas canvas(8, 1);
  canvas.put_right(7, 0, "6.11G", {});
  EXPECT_EQ(canvas.to_text(), "  6.11G\n");
}

TEST(Canvas, CutsWithAnEllipsis) {
  Canvas canvas(10, 1);
  EXPECT_EQ(canvas.put_within(0, 0, 5, "osm2pgsql", {}), 5);
  EXPECT_EQ(canvas.to_text(), "osm2…\n");
}

TEST(Canvas, GivesWideCharactersTwoCells) {
  Canvas canvas(6, 1);
  canvas.put(0, 0, "a日b", {});
  EXPECT_EQ(canvas.at(1, 0).glyph, U'日');
  EXPECT_EQ(canvas.at(2, 0).glyph, U'\0');
  EXPECT_EQ(canvas.at(3, 0).glyph, U'b');
  EXPECT_EQ(canvas.to_text(), "a日b\n");
}

TEST(Canvas, DrawsNoHalfOfAWideCharacter) {
  Canvas canvas(2, 1);
  canvas.put(1, 0, "日", {});
  EXPECT_EQ(canvas.to_text(), "\n");
}

TEST(Canvas, LeavesOutMarksThatCombine) {
  Canvas canvas(4, 1);
  canvas.put(0, 0, "e\xcc\x81x", {});
  EXPECT_EQ(canvas.to_text(), "ex\n");
}

TEST(Canvas, FoldsToOneAsciiCharacterEach) {
  Canvas canvas(8, 1);
  canvas.put(0, 0, "▾ ─…·日", {});
  canvas.fold_to_ascii();
  EXPECT_EQ(canvas.to_text(), "- -.-??\n");
}

TEST(Canvas, HasNothingToDrawOnWhenItIsEmpty) {
  Canvas canvas(0, 0);
  canvas.put(0, 0, "x", {});
  EXPECT_EQ(canvas.to_text(), "");
}

}  // namespace
}  // namespace tidemark::view::tui
