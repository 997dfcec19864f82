#include "analysis/trend.h"

#include <algorithm>
#include <cmath>

namespace tidemark::analysis {
namespace {

// Slopes of all pairs are quadratic; so many points are enough for a median.
constexpr size_t kMostPoints = 200;
constexpr size_t kLeastPoints = 10;

// What is worth a line: a mebibyte and a twentieth of what was there.
constexpr int64_t kLeastGrowthBytes = int64_t{1} << 20;
constexpr int64_t kLeastGrowthShare = 20;
constexpr double kLeastFit = 0.7;
constexpr double kLeastRising = 0.6;
// A straight line through a single step fits it to 0.75, and its median slope
// is no zero: what rose once or twice does not keep growing.
constexpr uint64_t kLeastRises = 3;

std::vector<TrendPoint> thinned(const std::vector<TrendPoint>& points) {
  if (points.size() <= kMostPoints) return points;
  std::vector<TrendPoint> few;
  for (size_t i = 0; i < kMostPoints; ++i)
    few.push_back(points[i * (points.size() - 1) / (kMostPoints - 1)]);
  return few;
}

double median_slope(const std::vector<TrendPoint>& points) {
  std::vector<double> slopes;
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      const double time = points[j].first - points[i].first;
      if (time <= 0) continue;
      slopes.push_back((points[j].second - points[i].second) / time);
    }
  }
  if (slopes.empty()) return 0;
  auto middle = slopes.begin() + static_cast<ptrdiff_t>(slopes.size() / 2);
  std::ranges::nth_element(slopes, middle);
  return *middle;
}

double fit_of(const std::vector<TrendPoint>& points) {
  const auto count = static_cast<double>(points.size());
  double sum_x = 0;
  double sum_y = 0;
  for (const auto& [x, y] : points) {
    sum_x += x;
    sum_y += y;
  }
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const auto& [x, y] : points) {
    const double dx = x - sum_x / count;
    const double dy = y - sum_y / count;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  return xx > 0 && yy > 0 ? xy * xy / (xx * yy) : 0;
}

double seconds_at(const std::vector<model::RecordedTick>& ticks, size_t i) {
  return static_cast<double>(ticks[i].monotonic_ns - ticks[0].monotonic_ns) /
         1e9;
}

// Values hold from one change to the next, so a point for each tick.
std::vector<TrendPoint> filled(const model::Series& series,
                               const std::vector<model::RecordedTick>& ticks) {
  std::vector<TrendPoint> points;
  auto next = series.points.begin();
  double value = 0;
  bool has_begun = false;
  for (size_t i = 0; i < ticks.size(); ++i) {
    while (next != series.points.end() && next->first <= ticks[i].id) {
      value = static_cast<double>(next->second);
      has_begun = true;
      ++next;
    }
    if (has_begun) points.emplace_back(seconds_at(ticks, i), value);
  }
  return points;
}

bool is_worth_telling(const Trend& trend) {
  return trend.bytes_per_second > 0 && trend.growth_bytes > kLeastGrowthBytes &&
         trend.growth_bytes * kLeastGrowthShare >
             static_cast<int64_t>(trend.first_bytes) &&
         trend.r_squared >= kLeastFit && trend.rising_share >= kLeastRising &&
         trend.rise_count >= kLeastRises;
}

// A category that grows by one object alone says nothing that the object does
// not say better.
void drop_explained(std::vector<Trend>& growing) {
  const std::vector<Trend> all = growing;
  std::erase_if(growing, [&](const Trend& whole) {
    if (!whole.name.empty()) return false;
    return std::ranges::any_of(all, [&](const Trend& one) {
      return !one.name.empty() && one.category == whole.category &&
             one.growth_bytes * 10 >= whole.growth_bytes * 9;
    });
  });
}

}  // namespace

std::optional<Trend> trend_of(const std::vector<TrendPoint>& points) {
  if (points.size() < kLeastPoints) return std::nullopt;
  const std::vector<TrendPoint> few = thinned(points);
  Trend trend;
  trend.bytes_per_second = median_slope(few);
  trend.r_squared = fit_of(few);
  size_t rising = 0;
  size_t moving = 0;
  for (size_t i = 1; i < few.size(); ++i) {
    if (few[i].second == few[i - 1].second) continue;
    ++moving;
    if (few[i].second > few[i - 1].second) ++rising;
  }
  trend.rise_count = rising;
  trend.rising_share =
      moving == 0 ? 0
                  : static_cast<double>(rising) / static_cast<double>(moving);
  trend.first_bytes = static_cast<uint64_t>(points.front().second);
  trend.last_bytes = static_cast<uint64_t>(points.back().second);
  trend.growth_bytes = static_cast<int64_t>(trend.last_bytes) -
                       static_cast<int64_t>(trend.first_bytes);
  trend.span_ns =
      static_cast<uint64_t>((points.back().first - points.front().first) * 1e9);
  trend.sample_count = points.size();
  trend.ends_at_peak = std::ranges::all_of(points, [&](const TrendPoint& p) {
    return p.second <= points.back().second;
  });
  return trend;
}

std::vector<Trend> find_growing(const model::Timeline& timeline,
                                const std::vector<model::Series>& series,
                                const std::vector<model::RecordedTick>& ticks) {
  std::vector<Trend> growing;
  if (ticks.size() != timeline.points.size() || ticks.empty()) return growing;
  for (model::Category category : model::kCategories) {
    std::vector<TrendPoint> points;
    for (size_t i = 0; i < ticks.size(); ++i) {
      points.emplace_back(
          seconds_at(ticks, i),
          static_cast<double>(
              timeline.points[i]
                  .category_pss_bytes[static_cast<size_t>(category)]));
    }
    std::optional<Trend> trend = trend_of(points);
    if (!trend || !is_worth_telling(*trend)) continue;
    trend->category = category;
    growing.push_back(*trend);
  }
  for (const model::Series& one : series) {
    std::optional<Trend> trend = trend_of(filled(one, ticks));
    if (!trend || !is_worth_telling(*trend)) continue;
    trend->category = one.category;
    trend->name = one.name;
    growing.push_back(*trend);
  }
  drop_explained(growing);
  std::ranges::stable_sort(growing, std::greater<>(), &Trend::growth_bytes);
  return growing;
}

}  // namespace tidemark::analysis
