#include "cli/recorded_peak.h"

#include <algorithm>
#include <utility>

namespace tidemark::cli {
base::Result<const model::Timeline*> RecordedPeak::timeline() {
  if (!timeline_) {
    base::Result<model::Timeline> read = recording_.timeline(processes_);
    if (!read) return read.error();
    timeline_ = std::move(*read);
  }
  return &*timeline_;
}

base::Result<size_t> RecordedPeak::index(const RecordedPeakOptions& options) {
  if (options.tick_index) return *options.tick_index;
  base::Result<const model::Timeline*> heights = timeline();
  if (!heights) return heights.error();
  std::optional<size_t> best = analysis::find_peak(**heights, options.metric);
  if (best) return *best;
  return base::fail(
      base::ErrorKind::NotFound,
      "the recording does not know " +
          std::string(analysis::peak_metric_name(options.metric)));
}

base::Result<std::vector<analysis::Trend>> RecordedPeak::growing() {
  const std::vector<model::RecordedTick>& ticks = recording_.ticks();
  const size_t count = std::min(ticks.size(), analysis::kMostTrendPoints);
  analysis::GrowthInput input;
  std::vector<int64_t> ids;
  for (size_t i = 0; i < count; ++i) {
    const size_t index = count < 2 ? 0 : i * (ticks.size() - 1) / (count - 1);
    ids.push_back(ticks[index].id);
    input.times_ns.push_back(ticks[index].monotonic_ns);
  }
  base::Result<model::Bands> bands = recording_.bands(processes_, ids);
  if (!bands) return bands.error();
  input.bands = &*bands;
  input.processes = &recording_.processes();
  return analysis::find_growing(input);
}

base::Status RecordedPeak::find_group_marks(analysis::PeakInput& input) const {
  const std::optional<std::string> path = analysis::common_group(*input.sample);
  if (!path) return base::Ok{};
  return recording_.walk_cgroup(
      *path,
      [&](int64_t, const model::Cgroup& group) { input.group.add(group); });
}

base::Result<analysis::PeakReport> RecordedPeak::report(
    const RecordedPeakOptions& options) {
  base::Result<size_t> at = index(options);
  if (!at) return at.error();
  const std::vector<model::RecordedTick>& ticks = recording_.ticks();
  const uint64_t now_ns = ticks[*at].monotonic_ns;
  const uint64_t before_ns = now_ns - std::min(now_ns, kChangeNs);
  auto after = std::ranges::upper_bound(ticks, before_ns, {},
                                        &model::RecordedTick::monotonic_ns);
  const size_t earlier_index =
      after == ticks.begin() ? 0
                             : static_cast<size_t>(after - ticks.begin()) - 1;
  // The first tick has none before it, and is compared with itself.
  base::Result<store::Recording::Pair> states = recording_.pair_at(
      ticks[*at].id, ticks[std::min(earlier_index, *at)].id, processes_);
  if (!states) return states.error();
  analysis::PeakInput input;
  input.path = recording_.path();
  input.info = &recording_.info();
  input.ticks = &ticks;
  input.processes = &recording_.processes();
  input.metric = options.metric;
  input.is_asked_moment = options.tick_index.has_value();
  input.tick_index = *at;
  input.sample = &states->at;
  input.earlier = earlier_index < *at ? &states->earlier : nullptr;
  input.earlier_index = earlier_index;
  input.row_limit = options.row_limit;
  // The kernel's marks belong to the peak.
  if (!options.tick_index) {
    base::Result<std::vector<model::ProcessMaxima>> maxima =
        recording_.maxima();
    if (!maxima) return maxima.error();
    std::erase_if(*maxima, [&](const model::ProcessMaxima& one) {
      return !processes_.empty() && !processes_.contains(one.process);
    });
    input.maxima = std::move(*maxima);
    input.timeline = &*timeline_;
    base::Status status = find_group_marks(input);
    if (!status) return status.error();
  }
  if (options.with_trends) {
    base::Result<std::vector<analysis::Trend>> trends = growing();
    if (!trends) return trends.error();
    input.growing = std::move(*trends);
  }
  return analysis::make_peak_report(input);
}

}  // namespace tidemark::cli
