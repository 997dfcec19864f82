#include "view/text/spark.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/escape.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

using model::HeightPoint;
using Points = std::vector<HeightPoint>;

TEST(Sparkline, RisesFromTheLowestSignToTheHighest) {
  Points points;
  for (uint64_t i = 0; i < 8; ++i)
    points.push_back({i * 10, i});
  EXPECT_EQ(sparkline(TextStyle{}, points, 80, 8, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(ascii(), points, 80, 8, 8), ".:-=+*%#");
}

TEST(Sparkline, ACellIsTheHighestOfItsStretch) {
  EXPECT_EQ(sparkline(ascii(), {{0, 1}, {1, 8}, {2, 1}, {50, 1}}, 100, 8, 2),
            "#:");
}

TEST(Sparkline, AStretchWithoutAPointRepeatsTheOneBeforeIt) {
  EXPECT_EQ(sparkline(ascii(), {{0, 8}, {90, 1}}, 100, 8, 10), "#########:");
}

TEST(Sparkline, BeforeTheFirstPointItIsLow) {
  EXPECT_EQ(sparkline(ascii(), {{90, 8}}, 100, 8, 4), "...#");
}

TEST(Sparkline, ThePeakItselfIsTheHighestSign) {
  EXPECT_EQ(sparkline(ascii(), {{0, 100}}, 10, 100, 1), "#");
}

TEST(Sparkline, APointAboveTheTopIsTheHighestSign) {
  EXPECT_EQ(sparkline(ascii(), {{0, 900}}, 10, 100, 1), "#");
}

TEST(Sparkline, APointAfterTheEndStandsAtTheEnd) {
  EXPECT_EQ(sparkline(ascii(), {{500, 8}}, 100, 8, 4), "...#");
}

TEST(Sparkline, OfNothingIsLow) {
  EXPECT_EQ(sparkline(ascii(), {}, 100, 8, 3), "...");
}

TEST(Sparkline, OfNoTimeOrNoHeightIsLow) {
  EXPECT_EQ(sparkline(ascii(), {{0, 8}}, 0, 8, 3), "...");
  EXPECT_EQ(sparkline(ascii(), {{0, 8}}, 100, 0, 3), "...");
}

TEST(Sparkline, OfNoColumnsIsEmpty) {
  EXPECT_EQ(sparkline(ascii(), {{0, 8}}, 100, 8, 0), "");
}

// ---- properties -------------------------------------------------------------

Points some_points() {
  return *rc::gen::container<Points>(rc::gen::build<HeightPoint>(
      rc::gen::set(&HeightPoint::time_ns, rc::gen::arbitrary<uint64_t>()),
      rc::gen::set(&HeightPoint::bytes, rc::gen::arbitrary<uint64_t>())));
}

RC_GTEST_PROP(SparklineProperty, IsAsWideAsAsked,
              (bool utf8, uint64_t end_ns, uint64_t top_bytes)) {
  TextStyle style;
  style.utf8 = utf8;
  const auto columns = *rc::gen::inRange<size_t>(0, 200);
  const std::string line =
      sparkline(style, some_points(), end_ns, top_bytes, columns);
  RC_ASSERT(base::display_width(line) == columns);
}

RC_GTEST_PROP(SparklineProperty, ThePeakIsSeenHoweverManyPointsThereAre, ()) {
  Points points;
  const uint64_t end = *rc::gen::inRange<uint64_t>(1, 1'000'000);
  for (uint64_t i = *rc::gen::inRange<uint64_t>(0, 500); i > 0; --i)
    points.push_back({*rc::gen::inRange<uint64_t>(0, end), 1});
  points.push_back({*rc::gen::inRange<uint64_t>(0, end), 1'000'000});
  const std::string line = sparkline(ascii(), points, end, 1'000'000,
                                     *rc::gen::inRange<size_t>(1, 60));
  RC_ASSERT(line.find('#') != std::string::npos);
}

}  // namespace
}  // namespace tidemark::view
