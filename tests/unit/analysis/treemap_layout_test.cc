#include "analysis/treemap_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace tidemark::analysis {
namespace {

double area_of(const TreemapRect& rect) {
  return rect.width() * rect.height();
}

bool overlap(const TreemapRect& a, const TreemapRect& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom &&
         b.top < a.bottom && area_of(a) > 0 && area_of(b) > 0;
}

TEST(TreemapLayout, NothingHasNoPlace) {
  EXPECT_TRUE(squarified({}, {0, 0, 10, 10}).empty());
  const std::vector<TreemapRect> rects = squarified({0, 0}, {0, 0, 10, 10});
  ASSERT_EQ(rects.size(), 2U);
  EXPECT_EQ(area_of(rects[0]), 0);
}

TEST(TreemapLayout, OneTakesAll) {
  const TreemapRect all{3, 4, 30, 40};
  EXPECT_EQ(squarified({7}, all), std::vector<TreemapRect>{all});
  EXPECT_EQ(squarified({7, 0}, all)[0], all);
}

TEST(TreemapLayout, FourEqualsAreSquares) {
  const std::vector<TreemapRect> rects =
      squarified({1, 1, 1, 1}, {0, 0, 20, 20});
  for (const TreemapRect& rect : rects) {
    EXPECT_DOUBLE_EQ(rect.width(), 10);
    EXPECT_DOUBLE_EQ(rect.height(), 10);
  }
}

// The example of the paper that describes the method: 6×4, seven sizes.
TEST(TreemapLayout, IsTheKnownExample) {
  const std::vector<TreemapRect> rects =
      squarified({6, 6, 4, 3, 2, 2, 1}, {0, 0, 6, 4});
  EXPECT_DOUBLE_EQ(rects[0].width(), 3);
  EXPECT_DOUBLE_EQ(rects[0].height(), 2);
  EXPECT_DOUBLE_EQ(rects[1].top, 2);
  EXPECT_NEAR(rects[2].width(), 12.0 / 7, 1e-9);
  EXPECT_NEAR(rects[2].height(), 7.0 / 3, 1e-9);
}

TEST(TreemapLayout, NoAreaGivesEmptyRectangles) {
  for (const TreemapRect& rect : squarified({3, 2}, {5, 5, 5, 9}))
    EXPECT_EQ(area_of(rect), 0);
}

RC_GTEST_PROP(TreemapLayout, AreasAreProportionalAndCoverTheWhole, ()) {
  std::vector<uint64_t> sizes = *rc::gen::container<std::vector<uint64_t>>(
      rc::gen::inRange<uint64_t>(0, uint64_t{1} << *rc::gen::inRange(1, 50)));
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  const double width = *rc::gen::inRange(1, 1000);
  const double height = *rc::gen::inRange(1, 1000);
  const TreemapRect all{2, 3, 2 + width, 3 + height};
  const std::vector<TreemapRect> rects = squarified(sizes, all);
  RC_ASSERT(rects.size() == sizes.size());
  RC_ASSERT(rects == squarified(sizes, all));
  double total = 0;
  for (uint64_t size : sizes)
    total += static_cast<double>(size);
  if (total == 0) return;
  double covered = 0;
  for (size_t i = 0; i < rects.size(); ++i) {
    const double want = static_cast<double>(sizes[i]) / total * width * height;
    RC_ASSERT(std::abs(area_of(rects[i]) - want) < 1e-6 * width * height);
    RC_ASSERT(rects[i].left >= all.left && rects[i].right <= all.right);
    RC_ASSERT(rects[i].top >= all.top && rects[i].bottom <= all.bottom);
    covered += area_of(rects[i]);
    for (size_t j = 0; j < i; ++j)
      RC_ASSERT(!overlap(rects[i], rects[j]));
  }
  RC_ASSERT(std::abs(covered - width * height) < 1e-6 * width * height);
}

}  // namespace
}  // namespace tidemark::analysis
