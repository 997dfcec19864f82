#include "analysis/trend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "unit/analysis/recorded.h"

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

model::Band band_of(std::optional<int64_t> process, std::string name,
                    size_t count, const std::function<double(double)>& value) {
  model::Band band;
  band.category = model::Category::Heap;
  band.process = process;
  band.name = std::move(name);
  for (size_t i = 0; i < count; ++i) {
    model::BandShares shares;
    shares.rss_bytes = shares.pss_bytes =
        static_cast<uint64_t>(value(static_cast<double>(i)));
    const bool is_same =
        !band.points.empty() && band.points.back().shares == shares;
    if (!is_same) band.points.push_back({i, shares});
  }
  return band;
}

// What had no more than a bound until that moment.
void bound_until(size_t end, model::Band& band) {
  for (model::BandPoint& point : band.points) {
    if (point.tick_index < end)
      point.shares.bounded_bytes = point.shares.pss_bytes;
  }
}

std::vector<Trend> growing_in(const model::Bands& bands, size_t count) {
  GrowthInput input;
  input.bands = &bands;
  for (size_t i = 0; i < count; ++i)
    input.times_ns.push_back(i * 1'000'000'000);
  std::vector<model::RecordedProcess> processes;
  for (int64_t id : {1, 2, 3}) {
    processes.push_back(test::listed_process(id, static_cast<int32_t>(100 + id),
                                             "p" + std::to_string(id)));
  }
  input.processes = &processes;
  return find_growing(input);
}

std::vector<Trend> growing(const std::function<double(double)>& value,
                           size_t count = 100) {
  model::Bands bands;
  bands.by_process.push_back(band_of(1, "", count, value));
  bands.by_object.push_back(band_of({}, "[heap]", count, value));
  return growing_in(bands, count);
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
  EXPECT_TRUE(find_growing({}).empty());
}

double climbing(double s) {
  return 10 * kMebibyte + s * kMebibyte;
}
double level(double) {
  return 40 * kMebibyte;
}

TEST(FindGrowing, NamesTheProcessThatGrowsAmongOthers) {
  model::Bands bands;
  bands.by_process = {band_of(1, "", 50, level), band_of(2, "", 50, climbing)};
  const std::vector<Trend> found = growing_in(bands, 50);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].process, "p2 (102)");
  EXPECT_NEAR(found[0].bytes_per_second, kMebibyte, 1);
  EXPECT_FALSE(found[0].is_resident);
}

TEST(FindGrowing, DoesNotTakeBeingReadForGrowth) {
  // One after the other is read, and its shares are more than nothing from then
  // on; all of them are level.
  model::Bands bands;
  for (int64_t id : {1, 2, 3}) {
    bands.by_process.push_back(band_of(id, "", 50, [id](double s) {
      return s < 12.0 * static_cast<double>(id) ? 60 * kMebibyte
                                                : 40 * kMebibyte;
    }));
    bound_until(12 * static_cast<size_t>(id), bands.by_process.back());
    for (model::BandPoint& point : bands.by_process.back().points)
      point.shares.rss_bytes = static_cast<uint64_t>(60 * kMebibyte);
  }
  EXPECT_TRUE(growing_in(bands, 50).empty());
}

TEST(FindGrowing, ComparesByResidentMemoryWhatWasReadInBetween) {
  model::Bands bands;
  bands.by_process = {band_of(1, "", 50, climbing), band_of(2, "", 50, level)};
  bound_until(25, bands.by_process[0]);
  const std::vector<Trend> found = growing_in(bands, 50);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].is_resident);
  EXPECT_EQ(found[0].process, "p1 (101)");
  EXPECT_NEAR(found[0].bytes_per_second, kMebibyte, 1);
}

TEST(FindGrowing, DoesNotTakeProcessesThatComeForGrowth) {
  model::Bands bands;
  for (int64_t id : {1, 2, 3}) {
    bands.by_process.push_back(band_of(id, "", 60, [id](double s) {
      return s < 15.0 * static_cast<double>(id) ? 0 : 40 * kMebibyte;
    }));
  }
  EXPECT_TRUE(growing_in(bands, 60).empty());
}

}  // namespace
}  // namespace tidemark::analysis
