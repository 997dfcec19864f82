#include "analysis/timeline_report.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "analysis/peak_report.h"
#include "analysis/process_use.h"

namespace tidemark::analysis {
namespace {

using model::Band;
using model::BandPoint;
using model::BandShares;

constexpr size_t kMostEvents = 4000;

// A sum over bands, point by point, kept dense while it is made.
class DenseSum {
 public:
  explicit DenseSum(size_t tick_count) : deltas_(tick_count) {}

  void add(const std::vector<BandPoint>& points) {
    BandShares before;
    for (const BandPoint& point : points) {
      deltas_[point.tick_index].add(point.shares);
      deltas_[point.tick_index].subtract(before);
      before = point.shares;
    }
  }

  std::vector<BandPoint> points() const {
    std::vector<BandPoint> told;
    BandShares sum;
    for (size_t i = 0; i < deltas_.size(); ++i) {
      if (deltas_[i] == BandShares()) continue;
      sum.add(deltas_[i]);
      told.push_back({i, sum});
    }
    return told;
  }

 private:
  std::vector<BandShares> deltas_;
};

uint64_t highest(const TimelineBand& band) {
  uint64_t most = 0;
  for (const BandPoint& point : band.points) {
    most = std::max({most, point.shares.pss_bytes, point.shares.rss_bytes / 64,
                     point.shares.swap_bytes});
  }
  return most;
}

// The largest first, what is beyond the limit in one band of others.
void sort_and_fold(std::vector<TimelineBand>& bands, size_t limit,
                   size_t tick_count) {
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < bands.size(); ++i)
    order.emplace_back(highest(bands[i]), i);
  std::ranges::sort(order, [](const auto& left, const auto& right) {
    return std::pair(right.first, left.second) <
           std::pair(left.first, right.second);
  });
  std::vector<TimelineBand> sorted;
  const size_t kept = order.size() > limit ? limit - 1 : order.size();
  for (size_t i = 0; i < kept; ++i)
    sorted.push_back(std::move(bands[order[i].second]));
  if (kept < order.size()) {
    DenseSum sum(tick_count);
    for (size_t i = kept; i < order.size(); ++i)
      sum.add(bands[order[i].second].points);
    TimelineBand others;
    others.label = "others";
    others.others_count = order.size() - kept;
    others.points = sum.points();
    sorted.push_back(std::move(others));
  }
  bands = std::move(sorted);
}

class Maker {
 public:
  explicit Maker(const TimelineInput& input) : input_(input) {}

  TimelineReport make() {
    fill_head();
    fill_ticks();
    fill_kinds();
    find_peak();
    if (input_.bands) {
      fill_processes();
      fill_objects();
      fill_parts();
    }
    fill_events();
    report_.charge = input_.charge;
    return std::move(report_);
  }

 private:
  void fill_head() {
    report_.path = input_.path;
    report_.targets = input_.info->targets;
    report_.host = input_.info->host;
    report_.kernel = input_.info->kernel;
    report_.period_ns = input_.info->period_ns;
    report_.tick_count = input_.ticks->size();
    if (input_.ticks->empty()) return;
    report_.start_realtime_ns = input_.ticks->front().realtime_ns;
    report_.elapsed_ns = elapsed(input_.ticks->back().monotonic_ns);
  }

  uint64_t elapsed(uint64_t monotonic_ns) const {
    const uint64_t start = input_.ticks->front().monotonic_ns;
    return monotonic_ns - std::min(monotonic_ns, start);
  }

  uint64_t elapsed_at(int64_t tick) const {
    auto found = std::ranges::lower_bound(*input_.ticks, tick, {},
                                          &model::RecordedTick::id);
    if (found == input_.ticks->end()) return report_.elapsed_ns;
    return elapsed(found->monotonic_ns);
  }

  void fill_ticks() {
    for (size_t index : input_.drawn) {
      const model::RecordedTick& tick = (*input_.ticks)[index];
      const model::TimelinePoint& point = input_.timeline->points[index];
      report_.ticks.push_back({tick.id, elapsed(tick.monotonic_ns),
                               point.resident_bytes, point.pss_bytes,
                               point.process_count, point.undetailed_count,
                               point.scanned_count, point.bounded_bytes,
                               point.estimated_bytes, point.traced_bytes});
    }
  }

  void find_peak() {
    const std::optional<size_t> peak =
        analysis::find_peak(*input_.timeline, PeakMetric::Pss);
    const auto drawn = std::ranges::lower_bound(input_.drawn, peak.value_or(0));
    report_.peak_index = static_cast<size_t>(drawn - input_.drawn.begin());
  }

  // In stack order.
  void fill_kinds() {
    std::array<std::optional<DenseSum>, model::kCategoryCount> sums;
    for (const Band& band :
         input_.bands ? input_.bands->by_process : input_.kinds) {
      std::optional<DenseSum>& sum = sums[static_cast<size_t>(band.category)];
      if (!sum) sum.emplace(input_.drawn.size());
      sum->add(band.points);
    }
    for (model::Category category : model::kCategories) {
      const std::optional<DenseSum>& sum = sums[static_cast<size_t>(category)];
      if (!sum) continue;
      TimelineBand band;
      band.label = model::category_name(category);
      band.category = category;
      band.points = sum->points();
      report_.kinds.push_back(std::move(band));
    }
  }

  void fill_processes() {
    std::map<int64_t, DenseSum> of_process;
    std::map<std::string, DenseSum> of_group;
    for (const Band& band : input_.bands->by_process) {
      of_process.try_emplace(*band.process, input_.drawn.size())
          .first->second.add(band.points);
    }
    for (const model::RecordedProcess& process : *input_.processes) {
      auto found = of_process.find(process.id);
      if (found == of_process.end()) continue;
      TimelineBand band = band_of(process);
      band.points = found->second.points();
      band.cgroup_path = group_of(process);
      of_group.try_emplace(band.cgroup_path, input_.drawn.size())
          .first->second.add(band.points);
      report_.processes.push_back(std::move(band));
    }
    for (const auto& [path, sum] : of_group) {
      TimelineBand band;
      band.label = path;
      band.points = sum.points();
      report_.groups.push_back(std::move(band));
    }
    sort_and_fold(report_.processes, input_.band_limit, input_.drawn.size());
    sort_and_fold(report_.groups, input_.band_limit, input_.drawn.size());
  }

  // The kernel moves a process to the root when it ends: that is not where it
  // had its memory.
  static const std::string& group_of(const model::RecordedProcess& process) {
    const std::vector<model::RecordedImage>& images = process.images;
    const bool is_moved = process.gone_at_tick && images.size() > 1 &&
                          images.back().cgroup_path == "/";
    return (is_moved ? images[images.size() - 2] : images.back()).cgroup_path;
  }

  static TimelineBand band_of(const model::RecordedProcess& process) {
    // As it was called last: that is what people know it by. What has ended
    // has no arguments any more.
    auto called =
        std::ranges::find_if(process.images.rbegin(), process.images.rend(),
                             [](const model::RecordedImage& image) {
                               return !image.command_line.empty();
                             });
    if (called == process.images.rend()) called = process.images.rbegin();
    const model::RecordedImage& image = *called;
    model::Process named;
    named.stat.comm = image.comm;
    named.command_line = image.command_line;
    TimelineBand band;
    band.label = display_name(named);
    band.process = process.id;
    band.pid = process.process.pid;
    return band;
  }

  void fill_objects() {
    for (const Band& object : input_.bands->by_object) {
      TimelineBand band;
      band.label = object.name;
      band.category = object.category;
      band.points = object.points;
      report_.objects.push_back(std::move(band));
    }
    sort_and_fold(report_.objects, input_.band_limit, input_.drawn.size());
  }

  void fill_parts() {
    std::map<int64_t, const model::RecordedProcess*> by_id;
    for (const model::RecordedProcess& process : *input_.processes)
      by_id.emplace(process.id, &process);
    for (const Band& part : input_.bands->by_process) {
      auto process = by_id.find(*part.process);
      if (process == by_id.end()) continue;
      TimelineBand band = band_of(*process->second);
      band.category = part.category;
      band.points = part.points;
      report_.parts.push_back(std::move(band));
    }
    sort_and_fold(report_.parts, input_.band_limit, input_.drawn.size());
  }

  void fill_events() {
    std::vector<TimelineEvent>& events = report_.events;
    for (const model::RecordedProcess& process : *input_.processes)
      add_life(process);
    for (const model::RecordedGap& gap : input_.gaps) {
      TimelineEvent event;
      event.kind = TimelineEventKind::Missed;
      event.elapsed_ns = elapsed(gap.missed.due_monotonic_ns);
      event.count = gap.missed.count;
      event.duration_ns = gap.missed.count * report_.period_ns;
      event.text = gap.missed.because;
      report_.missed_count += gap.missed.count;
      events.push_back(std::move(event));
    }
    events.insert(events.end(), input_.machine_events.begin(),
                  input_.machine_events.end());
    std::ranges::stable_sort(events, {}, &TimelineEvent::elapsed_ns);
    if (events.size() <= kMostEvents) return;
    report_.untold_event_count = events.size() - kMostEvents;
    events.resize(kMostEvents);
  }

  void add_life(const model::RecordedProcess& process) {
    const auto add = [&](TimelineEventKind kind, int64_t tick,
                         const model::RecordedImage& image) {
      TimelineEvent event;
      event.kind = kind;
      event.elapsed_ns = elapsed_at(tick);
      event.text =
          image.comm + " (" + std::to_string(process.process.pid) + ")";
      report_.events.push_back(std::move(event));
    };
    const bool is_forked = process.first_tick > input_.ticks->front().id;
    add(is_forked ? TimelineEventKind::Forked : TimelineEventKind::Appeared,
        process.first_tick, process.images.front());
    for (size_t i = 1; i < process.images.size(); ++i) {
      // A new name alone is no exec.
      if (process.images[i].image == process.images[i - 1].image) continue;
      add(TimelineEventKind::Executed, process.images[i].from_tick,
          process.images[i]);
    }
    if (process.gone_at_tick) {
      add(TimelineEventKind::Exited, *process.gone_at_tick,
          process.images.back());
    }
  }

  const TimelineInput& input_;
  TimelineReport report_;
};

}  // namespace

std::string_view timeline_event_token(TimelineEventKind kind) {
  switch (kind) {
    case TimelineEventKind::Appeared:
      return "appeared";
    case TimelineEventKind::Forked:
      return "fork";
    case TimelineEventKind::Executed:
      return "exec";
    case TimelineEventKind::Exited:
      return "exit";
    case TimelineEventKind::SwapBegan:
      return "swap";
    case TimelineEventKind::OomKilled:
      return "oom";
    case TimelineEventKind::Missed:
      break;
  }
  return "missed";
}

std::vector<size_t> choose_drawn(const model::Timeline& timeline,
                                 const std::vector<model::RecordedTick>& ticks,
                                 size_t column_count) {
  const std::vector<model::TimelinePoint>& points = timeline.points;
  std::vector<size_t> drawn;
  const size_t count = std::min(points.size(), ticks.size());
  constexpr size_t kFewPerColumn = 3;
  if (count <= kFewPerColumn * column_count) {
    for (size_t i = 0; i < count; ++i)
      drawn.push_back(i);
    return drawn;
  }
  const uint64_t start = ticks.front().monotonic_ns;
  const uint64_t span =
      std::max<uint64_t>(ticks[count - 1].monotonic_ns -
                             std::min(ticks[count - 1].monotonic_ns, start),
                         1);
  const auto column_of = [&](size_t index) {
    const uint64_t at =
        ticks[index].monotonic_ns - std::min(ticks[index].monotonic_ns, start);
    const double share = static_cast<double>(at) / static_cast<double>(span);
    return static_cast<size_t>(share * static_cast<double>(column_count));
  };
  size_t first = 0;
  while (first < count) {
    const size_t column = column_of(first);
    size_t lowest = first;
    size_t highest = first;
    size_t most_resident = first;
    size_t most_traced = first;
    size_t next = first;
    while (next < count && column_of(next) == column) {
      if (points[next].pss_bytes < points[lowest].pss_bytes) lowest = next;
      if (points[next].pss_bytes > points[highest].pss_bytes) highest = next;
      if (points[next].resident_bytes > points[most_resident].resident_bytes) {
        most_resident = next;
      }
      if (points[next].traced_bytes > points[most_traced].traced_bytes) {
        most_traced = next;
      }
      ++next;
    }
    std::array<size_t, 4> chosen = {lowest, highest, most_resident,
                                    most_traced};
    std::ranges::sort(chosen);
    for (size_t index : chosen) {
      if (drawn.empty() || drawn.back() < index) drawn.push_back(index);
    }
    first = std::max(next, first + 1);
  }
  if (drawn.front() != 0) drawn.insert(drawn.begin(), 0);
  if (drawn.back() != count - 1) drawn.push_back(count - 1);
  return drawn;
}

std::optional<std::string> only_cgroup(
    const std::vector<model::RecordedProcess>& processes,
    const model::Bands& bands) {
  std::set<int64_t> with_memory;
  for (const Band& band : bands.by_process) {
    const bool has_some = std::ranges::any_of(
        band.points,
        [](const BandPoint& point) { return point.shares.rss_bytes > 0; });
    if (has_some) with_memory.insert(*band.process);
  }
  std::optional<std::string> found;
  for (const model::RecordedProcess& process : processes) {
    if (!with_memory.contains(process.id)) continue;
    const std::string& path = process.images.back().cgroup_path;
    if (path.empty() || path == "/") return std::nullopt;
    if (found && *found != path) return std::nullopt;
    found = path;
  }
  return found;
}

TimelineReport make_timeline_report(const TimelineInput& input) {
  return Maker(input).make();
}

}  // namespace tidemark::analysis
