#include "analysis/trend.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "analysis/peak_report.h"

namespace tidemark::analysis {
namespace {

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
  if (points.size() <= kMostTrendPoints) return points;
  std::vector<TrendPoint> few;
  for (size_t i = 0; i < kMostTrendPoints; ++i)
    few.push_back(points[i * (points.size() - 1) / (kMostTrendPoints - 1)]);
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

bool is_worth_telling(const Trend& trend) {
  return trend.bytes_per_second > 0 && trend.growth_bytes > kLeastGrowthBytes &&
         trend.growth_bytes * kLeastGrowthShare >
             static_cast<int64_t>(trend.first_bytes) &&
         trend.r_squared >= kLeastFit && trend.rising_share >= kLeastRising &&
         trend.rise_count >= kLeastRises;
}

using Values = std::vector<uint64_t>;  // at each time

Values values_of(const model::Band& band, uint64_t model::BandShares::*of,
                 size_t count) {
  Values values(count);
  for (size_t i = 0; i < band.points.size(); ++i) {
    const size_t end =
        i + 1 < band.points.size() ? band.points[i + 1].tick_index : count;
    std::fill(
        values.begin() + static_cast<ptrdiff_t>(band.points[i].tick_index),
        values.begin() + static_cast<ptrdiff_t>(end),
        band.points[i].shares.*of);
  }
  return values;
}

void add_to(Values& sum, const Values& more) {
  if (sum.empty()) sum.resize(more.size());
  for (size_t i = 0; i < more.size(); ++i)
    sum[i] += more[i];
}

// One process over the times.
struct Life {
  Values resident;  // of all its memory
  size_t first = 0;
  bool has_memory_at_end = false;
  bool is_bounded = false;  // somewhere on the way
};

class GrowthFinder {
 public:
  explicit GrowthFinder(const GrowthInput& input)
      : input_(input), count_(input.times_ns.size()) {}

  std::vector<Trend> find() {
    if (count_ == 0 || input_.bands == nullptr) return {};
    find_lives();
    add_processes();
    add_sums();
    drop_explained();
    std::ranges::stable_sort(growing_, std::greater<>(), &Trend::growth_bytes);
    return std::move(growing_);
  }

 private:
  void find_lives() {
    for (const model::Band& band : input_.bands->by_process) {
      Life& life = lives_[*band.process];
      add_to(life.resident,
             values_of(band, &model::BandShares::rss_bytes, count_));
      life.is_bounded |=
          std::ranges::any_of(band.points, [](const model::BandPoint& point) {
            return point.shares.bounded_bytes > 0;
          });
    }
    for (auto& [id, life] : lives_) {
      const auto first = std::ranges::find_if(
          life.resident, [](uint64_t bytes) { return bytes > 0; });
      life.first = static_cast<size_t>(first - life.resident.begin());
      life.has_memory_at_end = life.resident.back() > 0;
    }
  }

  bool lives_throughout(const Life& life) const {
    return life.first == 0 && life.has_memory_at_end;
  }

  // What a process does at its start is not what it goes on doing.
  bool lives_long(const Life& life) const {
    return life.has_memory_at_end && life.first <= count_ / 2;
  }

  void add(const Values& values, size_t first, Trend labels) {
    std::vector<TrendPoint> points;
    for (size_t i = first; i < count_; ++i) {
      points.emplace_back(
          static_cast<double>(input_.times_ns[i] - input_.times_ns[0]) / 1e9,
          static_cast<double>(values[i]));
    }
    std::optional<Trend> trend = trend_of(points);
    if (!trend || !is_worth_telling(*trend)) return;
    trend->category = labels.category;
    trend->name = std::move(labels.name);
    trend->process = std::move(labels.process);
    trend->is_resident = labels.is_resident;
    growing_.push_back(std::move(*trend));
  }

  std::string name_of(int64_t id) const {
    auto found = std::ranges::lower_bound(*input_.processes, id, {},
                                          &model::RecordedProcess::id);
    return found != input_.processes->end() && found->id == id
               ? recorded_name(*found)
               : std::string();
  }

  void add_processes() {
    for (const auto& [id, life] : lives_) {
      if (!lives_long(life) || !life.is_bounded) continue;
      Trend labels;
      labels.process = name_of(id);
      labels.is_resident = true;
      add(life.resident, life.first, labels);
    }
    if (lives_.size() < 2) return;
    for (const model::Band& band : input_.bands->by_process) {
      const Life& life = lives_.at(*band.process);
      if (!lives_long(life) || life.is_bounded) continue;
      Trend labels;
      labels.category = band.category;
      labels.process = name_of(*band.process);
      add(values_of(band, &model::BandShares::pss_bytes, count_), life.first,
          labels);
    }
  }

  // Over those that were known at both ends. Objects are of all processes
  // together, so they can tell only where these are all there are.
  void add_sums() {
    std::map<model::Category, Values> sums;
    bool is_all = true;
    for (const model::Band& band : input_.bands->by_process) {
      const Life& life = lives_.at(*band.process);
      const bool is_known = lives_throughout(life) && !life.is_bounded;
      is_all &= is_known;
      if (!is_known) continue;
      add_to(sums[band.category],
             values_of(band, &model::BandShares::pss_bytes, count_));
    }
    for (const auto& [category, values] : sums) {
      Trend labels;
      labels.category = category;
      add(values, 0, labels);
    }
    if (!is_all) return;
    for (const model::Band& band : input_.bands->by_object) {
      Trend labels;
      labels.category = band.category;
      labels.name = band.name;
      add(values_of(band, &model::BandShares::pss_bytes, count_), 0, labels);
    }
  }

  // A category that grows by one object or one process alone says nothing that
  // these do not say better.
  void drop_explained() {
    const std::vector<Trend> all = growing_;
    std::erase_if(growing_, [&](const Trend& whole) {
      if (!whole.name.empty() || !whole.process.empty()) return false;
      return std::ranges::any_of(all, [&](const Trend& one) {
        return (!one.name.empty() || !one.process.empty()) &&
               one.category == whole.category &&
               one.growth_bytes * 10 >= whole.growth_bytes * 9;
      });
    });
  }

  const GrowthInput& input_;
  size_t count_;
  std::map<int64_t, Life> lives_;  // by process
  std::vector<Trend> growing_;
};

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

std::vector<Trend> find_growing(const GrowthInput& input) {
  return GrowthFinder(input).find();
}

}  // namespace tidemark::analysis
