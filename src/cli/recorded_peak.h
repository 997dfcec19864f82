// Joins a recording and the report of its peak: what `peak`, `info` and
// `replay` share.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/peak_report.h"
#include "base/result.h"
#include "model/timeline.h"
#include "store/recording.h"

namespace tidemark::cli {

// How far back the column of changes looks.
inline constexpr uint64_t kChangeNs = uint64_t{600} * 1'000'000'000;

struct RecordedPeakOptions {
  analysis::PeakMetric metric = analysis::PeakMetric::Pss;
  std::optional<size_t> tick_index;  // of an asked moment; the peak without
  size_t row_limit = 20;
  bool with_trends = true;
};

class RecordedPeak {
 public:
  // The recording must outlive it.
  RecordedPeak(const store::Recording& recording, store::ProcessSet processes)
      : recording_(recording), processes_(std::move(processes)) {}

  // Read once, when it is first asked for: a moment that is named needs none.
  base::Result<const model::Timeline*> timeline();
  // NotFound when the recording does not know the metric.
  base::Result<size_t> index(const RecordedPeakOptions& options);
  base::Result<analysis::PeakReport> report(const RecordedPeakOptions& options);
  base::Result<std::vector<analysis::Trend>> growing();

 private:
  base::Status find_group_marks(analysis::PeakInput& input) const;

  const store::Recording& recording_;
  store::ProcessSet processes_;
  std::optional<model::Timeline> timeline_;
};

}  // namespace tidemark::cli
