#include "view/tui/view.h"

#include <gtest/gtest.h>

namespace tidemark::view::tui {
namespace {

TEST(ListCursor, KeepsTheChosenRowInSight) {
  ListCursor cursor{7, 0};
  cursor.settle(10, 3);
  EXPECT_EQ(cursor.first, 5U);
  cursor.settle(4, 3);
  EXPECT_EQ(cursor.chosen, 3U);
  cursor.settle(0, 3);
  EXPECT_EQ(cursor.chosen, 0U);
  EXPECT_EQ(cursor.first, 0U);
}

TEST(ListCursor, MovesWithinTheList) {
  ListCursor cursor;
  EXPECT_TRUE(cursor.move({KeyCode::End, 0, 0, 0}, 9, 4));
  EXPECT_EQ(cursor.chosen, 8U);
  EXPECT_TRUE(cursor.move({KeyCode::PageUp, 0, 0, 0}, 9, 4));
  EXPECT_EQ(cursor.chosen, 5U) << "a row of the page before stays";
  EXPECT_FALSE(cursor.move(typed(U'x'), 9, 4));
}

TEST(ListCursor, FindsRoundTheEnds) {
  ListCursor cursor{2, 0};
  const auto is_first = [](size_t row) { return row == 0; };
  EXPECT_TRUE(cursor.find(4, 4, {true, false}, is_first));
  EXPECT_EQ(cursor.chosen, 0U);
  const auto is_second = [](size_t row) { return row == 1; };
  EXPECT_TRUE(cursor.find(4, 4, {false, false}, is_second));
  EXPECT_EQ(cursor.chosen, 1U);
  EXPECT_TRUE(cursor.find(4, 4, {true, true}, is_second)) << "it is there";
  EXPECT_TRUE(cursor.find(4, 4, {false, false}, is_second)) << "all round";
}

TEST(ListCursor, FindsNothingInNothing) {
  ListCursor cursor;
  const auto is_any = [](size_t) { return true; };
  EXPECT_FALSE(cursor.find(0, 4, {true, true}, is_any));
  EXPECT_FALSE(cursor.find(0, 4, {false, false}, is_any));
}

}  // namespace
}  // namespace tidemark::view::tui
