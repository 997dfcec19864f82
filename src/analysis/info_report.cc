#include "analysis/info_report.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/peak_report.h"

namespace tidemark::analysis {
namespace {

// Numbers in a remark differ from one to the next; the rest is its kind.
std::string kind_of(const std::string& text) {
  std::string kind;
  for (char c : text) {
    if (c < '0' || c > '9') kind += c;
  }
  return kind;
}

void sum_ticks(const std::vector<model::RecordedTick>& ticks,
               InfoReport& report) {
  for (const model::RecordedTick& tick : ticks) {
    report.elapsed_ns.push_back(tick.monotonic_ns - ticks.front().monotonic_ns);
    if (tick.is_new_high) ++report.new_high_count;
    report.read_ns += tick.read_ns;
    report.longest_read_ns = std::max(report.longest_read_ns, tick.read_ns);
    report.oldest_detail_ticks =
        std::max(report.oldest_detail_ticks, tick.oldest_detail_ticks);
    if (tick.cpu_ns) report.cpu_ns = tick.cpu_ns;
    if (tick.oldest_detail_ticks > 0) ++report.stale_tick_count;
    if (tick.undetailed_count > 0 || tick.scanned_count > 0)
      ++report.bounded_tick_count;
  }
}

void sum_gaps(const std::vector<model::RecordedGap>& gaps, InfoReport& report) {
  std::map<std::string, uint64_t> reasons;
  for (const model::RecordedGap& gap : gaps) {
    report.missed_count += gap.missed.count;
    reasons[gap.missed.because] += gap.missed.count;
  }
  report.missed_reasons.assign(reasons.begin(), reasons.end());
}

void group_notes(const InfoInput& input, InfoReport& report) {
  std::map<std::string, size_t> known;
  for (const model::RecordedNote& note : input.notes) {
    auto [at, is_new] =
        known.try_emplace(kind_of(note.text), report.notes.size());
    if (!is_new) {
      ++report.notes[at->second].count;
      continue;
    }
    InfoNote first;
    first.text = note.text;
    first.count = 1;
    auto tick = std::ranges::lower_bound(*input.ticks, note.tick, {},
                                         &model::RecordedTick::id);
    if (tick != input.ticks->end()) {
      first.first_elapsed_ns =
          tick->monotonic_ns - input.ticks->front().monotonic_ns;
    }
    auto process =
        std::ranges::lower_bound(*input.processes, note.process.value_or(-1),
                                 {}, &model::RecordedProcess::id);
    // A file from elsewhere may tell of somebody it does not list.
    if (note.process && process != input.processes->end() &&
        process->id == *note.process) {
      first.process = process->images.back().comm + " (" +
                      std::to_string(process->process.pid) + ")";
    }
    report.notes.push_back(std::move(first));
  }
}

}  // namespace

std::optional<uint64_t> InfoReport::trace_bytes() const {
  std::optional<uint64_t> bytes;
  for (const InfoTable& table : tables) {
    if (!table.name.starts_with("trace_") || !table.bytes) continue;
    bytes = bytes.value_or(0) + *table.bytes;
  }
  return bytes;
}

InfoReport make_info_report(const InfoInput& input) {
  InfoReport report;
  report.info = *input.info;
  report.first = input.ticks->front();
  report.last = input.ticks->back();
  report.tick_count = input.ticks->size();
  report.thinned_count =
      static_cast<uint64_t>(report.last.id + 1) - report.tick_count;
  report.processes = *input.processes;
  report.living_count = static_cast<uint64_t>(std::ranges::count_if(
      *input.processes,
      [](const auto& process) { return !process.gone_at_tick; }));
  sum_ticks(*input.ticks, report);
  sum_gaps(input.gaps, report);
  group_notes(input, report);
  return report;
}

std::optional<InfoHeights> heights_of(const InfoReport& report) {
  const std::vector<model::TimelinePoint>& ticks = report.timeline.points;
  InfoHeights heights;
  for (size_t i = 0; i < ticks.size() && i < report.elapsed_ns.size(); ++i) {
    heights.points.push_back({report.elapsed_ns[i], ticks[i].pss_bytes});
  }
  heights.top = find_peak(report.timeline, PeakMetric::Pss).value_or(0);
  if (heights.top >= heights.points.size() || heights.highest().bytes == 0) {
    return std::nullopt;
  }
  heights.is_bound = ticks[heights.top].bounded_bytes > 0;
  heights.is_estimated = ticks[heights.top].estimated_bytes > 0;
  return heights;
}

}  // namespace tidemark::analysis
