#include "analysis/machine_history.h"

#include <algorithm>
#include <utility>

#include "analysis/trend.h"

namespace tidemark::analysis {
namespace {

// So long must nothing have been swapped out for swapping to begin anew.
constexpr uint64_t kSwapPauseNs = uint64_t{10} * 1'000'000'000;

// What a counter that only rises has risen by; nothing where it is not told or
// has begun anew.
std::optional<uint64_t> risen(std::optional<uint64_t> before,
                              std::optional<uint64_t> now) {
  if (!before || !now || *now < *before) return std::nullopt;
  return *now - *before;
}

// What `system` reads beside the counters is not kept for each tick.
model::KernelReadings not_recorded() {
  const std::string why = "not in the recording";
  return {{{}, why}, {{}, why}, {{}, why}, {{}, why}, {{}, why}};
}

TimelineEvent event_at(TimelineEventKind kind, uint64_t elapsed_ns,
                       uint64_t count, std::string text) {
  TimelineEvent event;
  event.kind = kind;
  event.elapsed_ns = elapsed_ns;
  event.count = count;
  event.text = std::move(text);
  return event;
}

// A drift is told when the median slope explains half of all movement, and is
// no mere flicker of a counter that is kept per processor.
ResidueTrend trend_in(const std::vector<TrendPoint>& points,
                      const Residue& residue) {
  constexpr double kLeastBytes = 1024.0 * 1024.0;
  const std::optional<Trend> trend = trend_of(points);
  if (!trend) return ResidueTrend::Unknown;
  const double moved =
      trend->bytes_per_second * static_cast<double>(residue.span_ns) / 1e9;
  const auto spread =
      static_cast<double>(residue.most_bytes - residue.least_bytes);
  if (std::max(moved, -moved) < std::max(kLeastBytes, spread / 2)) {
    return ResidueTrend::Steady;
  }
  return moved > 0 ? ResidueTrend::Rises : ResidueTrend::Falls;
}

std::optional<Residue> residue_of(const std::vector<MachineTick>& ticks) {
  std::vector<const MachineTick*> read;
  for (const MachineTick& tick : ticks) {
    if (tick.other_bytes) read.push_back(&tick);
  }
  if (read.empty()) return std::nullopt;
  Residue residue;
  residue.first_bytes = *read.front()->other_bytes;
  residue.last_bytes = *read.back()->other_bytes;
  residue.least_bytes = residue.most_bytes = residue.first_bytes;
  residue.span_ns = read.back()->elapsed_ns - read.front()->elapsed_ns;
  for (const MachineTick* tick : read) {
    residue.least_bytes = std::min(residue.least_bytes, *tick->other_bytes);
    residue.most_bytes = std::max(residue.most_bytes, *tick->other_bytes);
  }
  // A trend is of what is at least nothing; a residue may be less.
  std::vector<TrendPoint> points;
  points.reserve(read.size());
  for (const MachineTick* tick : read) {
    points.emplace_back(
        static_cast<double>(tick->elapsed_ns) / 1e9,
        static_cast<double>(*tick->other_bytes - residue.least_bytes));
  }
  residue.trend = trend_in(points, residue);
  return residue;
}

}  // namespace

std::string_view residue_trend_token(ResidueTrend trend) {
  switch (trend) {
    case ResidueTrend::Steady:
      return "steady";
    case ResidueTrend::Rises:
      return "rises";
    case ResidueTrend::Falls:
      return "falls";
    case ResidueTrend::Unknown:
      break;
  }
  return "unknown";
}

MachineHistoryMaker::MachineHistoryMaker(
    const std::vector<model::RecordedTick>& ticks,
    const std::vector<size_t>& drawn)
    : ticks_(ticks) {
  if (!ticks.empty()) history_.start_realtime_ns = ticks.front().realtime_ns;
  for (size_t index : drawn) {
    MachineTick tick;
    tick.id = ticks[index].id;
    tick.elapsed_ns = elapsed(tick.id);
    history_.ticks.push_back(tick);
  }
}

uint64_t MachineHistoryMaker::elapsed(int64_t tick) const {
  auto found =
      std::ranges::lower_bound(ticks_, tick, {}, &model::RecordedTick::id);
  if (found == ticks_.end()) found = std::prev(ticks_.end());
  const uint64_t start = ticks_.front().monotonic_ns;
  return found->monotonic_ns - std::min(found->monotonic_ns, start);
}

void MachineHistoryMaker::note_events(int64_t tick, const model::VmStat& now) {
  const std::optional<model::VmStat> before =
      std::exchange(vmstat_before_, now);
  if (!before) return;
  const uint64_t at = elapsed(tick);
  const uint64_t killed =
      risen(before->oom_kill_count, now.oom_kill_count).value_or(0);
  if (killed > 0) {
    history_.events.push_back(event_at(
        TimelineEventKind::OomKilled, at, killed,
        "killed for want of memory: " + std::to_string(killed) +
            (killed == 1 ? " process" : " processes") + " of the machine"));
  }
  const uint64_t swapped =
      risen(before->swapped_out_pages, now.swapped_out_pages).value_or(0);
  if (swapped == 0) return;
  const std::optional<uint64_t> last = std::exchange(last_swapped_out_ns_, at);
  if (last && at - *last < kSwapPauseNs) return;
  history_.events.push_back(event_at(TimelineEventKind::SwapBegan, at, swapped,
                                     "the machine begins to swap out"));
}

void MachineHistoryMaker::fill(const model::Machine& machine,
                               MachineTick& out) {
  model::Sample sample;
  sample.machine = machine;
  sample.kernel = not_recorded();
  const std::optional<SystemReport> report = make_system_report(sample);
  if (!report) return;
  out.total_bytes = report->total_bytes;
  out.other_bytes = report->other_bytes;
  out.available_bytes = machine.meminfo.available_bytes;
  out.swap_used_bytes =
      risen(machine.meminfo.swap_free_bytes, machine.meminfo.swap_total_bytes);
  history_.total_source = report->total_source;
  for (size_t i = 0; i < kSystemColumnCount; ++i) {
    const SystemValue& value = report->columns[i];
    out.columns[i] = value.bytes.value;
    history_.remarks[i] = value.remark;
    if (!value.bytes) {
      history_.unknown_because[i] = value.bytes.unknown_because;
    }
  }
  out.stalled_some_ns =
      risen(pressure_before_.some_ns, machine.pressure.some_ns);
  out.stalled_full_ns =
      risen(pressure_before_.full_ns, machine.pressure.full_ns);
  pressure_before_ = machine.pressure;
}

void MachineHistoryMaker::add(int64_t tick, const model::Machine& machine) {
  has_machine_ = true;
  note_events(tick, machine.vmstat);
  std::vector<MachineTick>& ticks = history_.ticks;
  while (next_ < ticks.size() && ticks[next_].id < tick)
    ++next_;
  if (next_ < ticks.size() && ticks[next_].id == tick) {
    fill(machine, ticks[next_]);
  }
}

std::optional<MachineHistory> MachineHistoryMaker::take() {
  if (!has_machine_) return std::nullopt;
  history_.residue = residue_of(history_.ticks);
  return std::move(history_);
}

}  // namespace tidemark::analysis
