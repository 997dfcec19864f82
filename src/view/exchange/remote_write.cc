#include "view/exchange/remote_write.h"

#include <algorithm>
#include <utility>

#include "base/snappy.h"
#include "view/profile/protobuf.h"

namespace tidemark::view {
namespace {

using model::MetricFamily;
using model::MetricLabel;

// Field numbers of prometheus/prompb/types.proto and remote.proto.
constexpr uint32_t kTimeSeries = 1;  // of WriteRequest
constexpr uint32_t kLabels = 1;      // of TimeSeries
constexpr uint32_t kSamples = 2;
constexpr uint32_t kName = 1;  // of Label
constexpr uint32_t kText = 2;
constexpr uint32_t kValue = 1;  // of Sample
constexpr uint32_t kTime = 2;   // in milliseconds

// Receivers want them in order of their names, and none of them twice. An empty
// value is no label.
std::vector<MetricLabel> series_labels(const MetricFamily& family,
                                       const std::vector<MetricLabel>& own,
                                       const std::vector<MetricLabel>& common) {
  std::vector<MetricLabel> labels = own;
  labels.push_back({"__name__", family.name});
  for (const MetricLabel& label : common) {
    if (std::ranges::find(labels, label.name, &MetricLabel::name) ==
        labels.end()) {
      labels.push_back(label);
    }
  }
  std::erase_if(labels,
                [](const MetricLabel& label) { return label.value.empty(); });
  std::ranges::sort(labels, {}, &MetricLabel::name);
  return labels;
}

}  // namespace

std::string remote_write_request(const std::vector<MetricFamily>& families,
                                 const std::vector<MetricLabel>& common,
                                 uint64_t realtime_ns) {
  constexpr uint64_t kNsPerMs = 1'000'000;
  ProtobufWriter request;
  for (const MetricFamily& family : families) {
    for (const model::MetricSample& sample : family.samples) {
      ProtobufWriter series;
      for (const MetricLabel& label :
           series_labels(family, sample.labels, common)) {
        ProtobufWriter message;
        message.text(kName, label.name);
        message.text(kText, label.value);
        series.message(kLabels, message);
      }
      ProtobufWriter message;
      message.real(kValue, sample.value);
      message.number(kTime, realtime_ns / kNsPerMs);
      series.message(kSamples, message);
      request.message(kTimeSeries, series);
    }
  }
  return base::snappy_compress(request.take());
}

}  // namespace tidemark::view
