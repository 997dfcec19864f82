// Joins a recording and the report of its peak: what `peak`, `info` and
// `replay` share.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/peak_report.h"
#include "base/result.h"
#include "model/timeline.h"
#include "store/recording.h"

namespace tidemark::cli {

struct RecordedPeakOptions {
  analysis::PeakMetric metric = analysis::PeakMetric::Pss;
  std::optional<size_t> tick_index;  // of an asked moment; the peak without
  size_t row_limit = 20;
  bool with_trends = true;
};

class RecordedPeak {
 public:
  // Reads the timeline once; the recording must outlive it.
  static base::Result<RecordedPeak> find(const store::Recording& recording,
                                         store::ProcessSet processes);

  const model::Timeline& timeline() const { return timeline_; }
  // NotFound when the recording does not know the metric.
  base::Result<size_t> index(const RecordedPeakOptions& options) const;
  base::Result<analysis::PeakReport> report(
      const RecordedPeakOptions& options) const;
  base::Result<std::vector<analysis::Trend>> growing() const;

 private:
  RecordedPeak(const store::Recording& recording, store::ProcessSet processes)
      : recording_(recording), processes_(std::move(processes)) {}

  const store::Recording& recording_;
  store::ProcessSet processes_;
  model::Timeline timeline_;
};

}  // namespace tidemark::cli
