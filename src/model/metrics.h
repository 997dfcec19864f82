// Numbers for engines that keep series of them: families of samples with
// labels, as OpenMetrics and Prometheus's remote write know them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::model {

enum class MetricType : uint8_t { Gauge, Counter };

struct MetricLabel {
  std::string name;
  std::string value;
  bool operator==(const MetricLabel&) const = default;
};

struct MetricSample {
  std::vector<MetricLabel> labels;
  // A double as all these engines have it: bytes are exact up to 2^53.
  double value = 0;
  bool operator==(const MetricSample&) const = default;
};

// What is not known has no sample: an engine takes a 0 for a measurement.
struct MetricFamily {
  std::string name;  // with its unit; of a counter with "_total" too
  MetricType type = MetricType::Gauge;
  std::string_view unit;  // "bytes", "seconds"; empty when it has none
  std::string_view help;
  std::vector<MetricSample> samples;
  bool operator==(const MetricFamily&) const = default;
};

inline size_t series_count(const std::vector<MetricFamily>& families) {
  size_t count = 0;
  for (const MetricFamily& family : families)
    count += family.samples.size();
  return count;
}

}  // namespace tidemark::model
