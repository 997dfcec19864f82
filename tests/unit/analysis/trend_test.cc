#include "analysis/trend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace tidemark::analysis {
namespace {

constexpr double kMebibyte = 1 << 20;

std::vector<TrendPoint> points_of(size_t count,
                                  const std::function<double(double)>& value) {
  std::vector<TrendPoint> points;
  for (size_t i = 0; i < count; ++i) {
    const auto second = static_cast<double>(i);
    points.emplace_back(second, value(second));
  }
  return points;
}

TEST(TrendOf, MeasuresAStraightLine) {
  const std::optional<Trend> trend = trend_of(
      points_of(100, [](double s) { return 10 * kMebibyte + s * kMebibyte; }));
  ASSERT_TRUE(trend);
  EXPECT_NEAR(trend->bytes_per_second, kMebibyte, 1);
  EXPECT_NEAR(trend->r_squared, 1, 1e-9);
  EXPECT_NEAR(trend->rising_share, 1, 1e-9);
  EXPECT_EQ(trend->growth_bytes, static_cast<int64_t>(99 * kMebibyte));
  EXPECT_EQ(trend->span_ns, 99'000'000'000U);
  EXPECT_EQ(trend->sample_count, 100U);
  EXPECT_TRUE(trend->ends_at_peak);
}

TEST(TrendOf, FindsTheSlopeUnderNoise) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> noise(-5 * kMebibyte, 5 * kMebibyte);
  const std::optional<Trend> trend = trend_of(points_of(200, [&](double s) {
    return 100 * kMebibyte + s * kMebibyte + noise(random);
  }));
  ASSERT_TRUE(trend);
  EXPECT_NEAR(trend->bytes_per_second, kMebibyte, kMebibyte / 10);
  EXPECT_GT(trend->r_squared, 0.9);
}

TEST(TrendOf, IsNotLedAstrayByOneSpike) {
  const std::optional<Trend> trend = trend_of(points_of(100, [](double s) {
    return s == 50 ? 10'000 * kMebibyte : s * kMebibyte;
  }));
  EXPECT_NEAR(trend->bytes_per_second, kMebibyte, kMebibyte / 50);
  EXPECT_FALSE(trend->ends_at_peak);
}

TEST(TrendOf, ThinsOutALongSeries) {
  const std::optional<Trend> trend =
      trend_of(points_of(100'000, [](double s) { return s * 1024; }));
  EXPECT_NEAR(trend->bytes_per_second, 1024, 1e-3);
  EXPECT_EQ(trend->sample_count, 100'000U);
}

TEST(TrendOf, SaysNothingOfTooFewPoints) {
  EXPECT_FALSE(trend_of({}));
  EXPECT_FALSE(trend_of(points_of(9, [](double s) { return s; })));
}

TEST(TrendOf, TakesEqualTimesAndValues) {
  std::vector<TrendPoint> points(20, {1.0, 5.0});
  const std::optional<Trend> trend = trend_of(points);
  ASSERT_TRUE(trend);
  EXPECT_EQ(trend->bytes_per_second, 0);
  EXPECT_EQ(trend->r_squared, 0);
}

// ---- find_growing

std::vector<Trend> growing(const std::function<double(double)>& value,
                           size_t count = 100) {
  std::vector<model::RecordedTick> ticks;
  model::Timeline timeline;
  model::Series series;
  series.category = model::Category::Heap;
  series.name = "[heap]";
  for (size_t i = 0; i < count; ++i) {
    model::RecordedTick tick;
    tick.id = static_cast<int64_t>(i);
    tick.monotonic_ns = i * 1'000'000'000;
    ticks.push_back(tick);
    model::TimelinePoint point;
    point.tick = tick.id;
    const auto bytes = static_cast<uint64_t>(value(static_cast<double>(i)));
    point.category_pss_bytes[static_cast<size_t>(model::Category::Heap)] =
        bytes;
    timeline.points.push_back(point);
    if (series.points.empty() || series.points.back().second != bytes) {
      series.points.emplace_back(tick.id, bytes);
    }
  }
  return find_growing(timeline, {series}, ticks);
}

TEST(FindGrowing, TellsALeakByItsObject) {
  const std::vector<Trend> found =
      growing([](double s) { return 10 * kMebibyte + s * kMebibyte; });
  ASSERT_EQ(found.size(), 1U) << "the whole category says nothing more";
  EXPECT_EQ(found[0].category, model::Category::Heap);
  EXPECT_EQ(found[0].name, "[heap]");
}

TEST(FindGrowing, TellsNothingOfWhatIsLevelOrFalls) {
  EXPECT_TRUE(growing([](double) { return 50 * kMebibyte; }).empty());
  EXPECT_TRUE(growing([](double s) {
                return 500 * kMebibyte - s * kMebibyte;
              }).empty());
}

TEST(FindGrowing, TellsNothingOfASingleStep) {
  EXPECT_TRUE(growing([](double s) {
                return s < 50 ? 50 * kMebibyte : 90 * kMebibyte;
              }).empty());
}

TEST(FindGrowing, TellsNothingOfASawtooth) {
  EXPECT_TRUE(growing([](double s) {
                return 50 * kMebibyte + std::fmod(s, 20) * kMebibyte;
              }).empty());
}

TEST(FindGrowing, TellsNothingOfGrowthTooSmallToMatter) {
  EXPECT_TRUE(
      growing([](double s) { return 50 * kMebibyte + s * 1024; }).empty());
}

TEST(FindGrowing, TellsNothingOfTooFewTicks) {
  EXPECT_TRUE(growing([](double s) { return s * 10 * kMebibyte; }, 9).empty());
  EXPECT_TRUE(find_growing({}, {}, {}).empty());
}

}  // namespace
}  // namespace tidemark::analysis
