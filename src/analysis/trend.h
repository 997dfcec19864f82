// Finds what keeps growing, with the evidence: never a bare verdict. A leak and
// a cache that fills look the same from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/category.h"
#include "model/recording.h"
#include "model/timeline.h"

namespace tidemark::analysis {

// A value over time: seconds and bytes.
using TrendPoint = std::pair<double, double>;

struct Trend {
  model::Category category = model::Category::Anon;
  std::string name;  // of the object; empty for a whole category
  // Where it is one process among several: "python3 app.py (812)".
  std::string process;
  // Its shares were not read at both ends: all its resident memory, of
  // whatever category.
  bool is_resident = false;
  double bytes_per_second = 0;  // the median of all slopes (Theil-Sen)
  double r_squared = 0;         // of the straight line through all points
  double rising_share = 0;      // of the steps that were not level
  uint64_t rise_count = 0;      // steps upwards
  int64_t growth_bytes = 0;     // from the first to the last
  uint64_t first_bytes = 0;
  uint64_t last_bytes = 0;
  uint64_t span_ns = 0;
  uint64_t sample_count = 0;
  bool ends_at_peak = false;  // the last value is the highest
};

// The trend of one series; empty when there is too little to tell.
std::optional<Trend> trend_of(const std::vector<TrendPoint>& points);

// A trend is of so few moments that the slopes of all pairs are soon compared.
inline constexpr size_t kMostTrendPoints = 200;

struct GrowthInput {
  const model::Bands* bands = nullptr;  // at the times
  std::vector<uint64_t> times_ns;
  const std::vector<model::RecordedProcess>* processes = nullptr;
};

// What grows steadily and by a share worth telling, strongest first: kinds of
// memory of a process, objects, whole categories. Only what was known at both
// ends counts, by the same means: what was first read in between has not grown.
std::vector<Trend> find_growing(const GrowthInput& input);

}  // namespace tidemark::analysis
