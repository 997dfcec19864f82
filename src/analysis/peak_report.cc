#include "analysis/peak_report.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "analysis/process_use.h"
#include "model/best_known.h"

namespace tidemark::analysis {
namespace {

using model::Category;
using model::TimelinePoint;

// Objects of these categories are worth a row each; heaps and stacks are many
// and alike.
bool is_told_by_object(Category category) {
  return category == Category::File || category == Category::Shm ||
         category == Category::Huge;
}

constexpr uint64_t kRowShare = 50;  // a fiftieth of the sum gets a row

std::optional<uint64_t> height_of(const TimelinePoint& point,
                                  PeakMetric metric) {
  switch (metric) {
    case PeakMetric::Pss:
      return point.pss_bytes;
    case PeakMetric::Rss:
      return point.rss_bytes;
    case PeakMetric::Statm:
      return point.resident_bytes;
    case PeakMetric::Available:
      return point.available_bytes;
    case PeakMetric::AvailableComputed:
      return point.available_computed_bytes;
  }
  return std::nullopt;
}

std::vector<PeakRow> rows_of(const Composition& composition, size_t row_limit) {
  std::vector<PeakRow> rows;
  std::map<Category, PeakRow> sums;
  for (const Part& part : composition.parts) {
    const bool has_row = is_told_by_object(part.category) &&
                         rows.size() < row_limit && part.bytes.pss > 0 &&
                         part.bytes.pss * kRowShare >= composition.total.pss;
    if (has_row) {
      rows.push_back({part.category, part.name, 0, part.bytes, std::nullopt});
      continue;
    }
    PeakRow& sum = sums[part.category];
    sum.category = part.category;
    sum.bytes.add(part.bytes);
    ++sum.others_count;
  }
  for (auto& [category, row] : sums) {
    // A captured structured binding is beyond clang 14.
    const bool has_named =
        std::ranges::any_of(rows, [whole = category](const PeakRow& named) {
          return named.category == whole;
        });
    // "31 others" only where some were named.
    if (!has_named) row.others_count = 0;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater<>(),
                           [](const PeakRow& row) { return row.bytes.pss; });
  return rows;
}

// Each row against the same objects before. What was there then and is not now
// belongs to the row of its category, so that the column adds up.
void fill_changes(const Composition& before, std::vector<PeakRow>& rows) {
  std::map<std::pair<Category, std::string>, size_t> named;
  std::map<Category, size_t> whole;
  const size_t present_count = rows.size();  // behind them: all of it has gone
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].change_bytes = static_cast<int64_t>(rows[i].bytes.pss);
    if (rows[i].name.empty()) {
      whole[rows[i].category] = i;
    } else {
      named[{rows[i].category, rows[i].name}] = i;
    }
  }
  for (const Part& part : before.parts) {
    auto one = named.find({part.category, part.name});
    size_t index = 0;
    if (one != named.end()) {
      index = one->second;
    } else {
      auto [at, is_new] = whole.try_emplace(part.category, rows.size());
      if (is_new) rows.push_back({part.category, {}, 0, {}, 0});
      index = at->second;
      const bool has_named = std::ranges::any_of(rows, [&](const PeakRow& row) {
        return row.category == part.category && !row.name.empty();
      });
      if (index >= present_count && has_named) ++rows[index].others_count;
    }
    *rows[index].change_bytes -= static_cast<int64_t>(part.bytes.pss);
  }
}

// A process that was read in full at one end alone is compared by its counters
// at both. Those know fewer kinds, so rows of these have no change.
void fill_changes(const PeakInput& input, PeakReport& report) {
  const ByCounters mixed = by_counters(*input.earlier, *input.sample);
  const Composition now = mixed.after.empty()
                              ? report.composition
                              : compose(*input.sample, mixed.after);
  const Composition before = compose(*input.earlier, mixed.before);
  report.is_change_by_counters = !mixed.names.empty();
  report.change_bytes = static_cast<int64_t>(now.total.pss) -
                        static_cast<int64_t>(before.total.pss);
  fill_changes(before, report.rows);
  if (now.parts == report.composition.parts) return;
  std::set<model::CounterKind> unclear;
  for (const Composition* side : {&now, &before}) {
    for (const Part& part : side->parts) {
      if (part.bytes.bounded > 0) {
        unclear.insert(model::counter_kind(part.category));
      }
    }
  }
  // And of whose counters nothing is known what was read is in no comparison.
  std::map<Category, int64_t> left_out;
  for (const Part& part : report.composition.parts)
    left_out[part.category] += static_cast<int64_t>(part.bytes.pss);
  for (const Part& part : now.parts)
    left_out[part.category] -= static_cast<int64_t>(part.bytes.pss);
  for (const auto& [category, bytes] : left_out) {
    if (bytes != 0) unclear.insert(model::counter_kind(category));
  }
  for (PeakRow& row : report.rows) {
    if (unclear.contains(model::counter_kind(row.category))) {
      row.change_bytes.reset();
    }
  }
}

// The group had far more from the beginning than the processes that were
// recorded: its mark is that of others, or of files they read.
bool has_others(const GroupMarks& marks, uint64_t first_seen_bytes) {
  constexpr uint64_t kMuch = uint64_t{64} << 20;
  return marks.first_charged_bytes &&
         *marks.first_charged_bytes > 2 * first_seen_bytes + kMuch;
}

bool has_others(const PeakInput& input) {
  return !input.timeline->points.empty() &&
         has_others(input.group, input.timeline->points.front().pss_bytes);
}

// The kernel's marks above what was seen, largest first.
std::vector<PeakMark> marks_of(const PeakInput& input) {
  std::vector<PeakMark> marks;
  for (const model::ProcessMaxima& maxima : input.maxima) {
    if (!maxima.high_mark_bytes) continue;
    auto process = std::ranges::lower_bound(*input.processes, maxima.process,
                                            {}, &model::RecordedProcess::id);
    if (process == input.processes->end() || process->id != maxima.process) {
      continue;
    }
    marks.push_back({"VmHWM of " + recorded_name(*process),
                     *maxima.high_mark_bytes, maxima.resident_bytes.value_or(0),
                     false,
                     maxima.high_mark_bytes == maxima.first_high_mark_bytes});
  }
  std::ranges::stable_sort(marks, std::greater<>(), &PeakMark::bytes);
  constexpr size_t kShown = 3;
  if (marks.size() > kShown) marks.resize(kShown);
  const std::optional<std::string> path = common_group(*input.sample);
  if (!path || has_others(input)) return marks;
  for (const model::Cgroup& group : input.sample->cgroups) {
    if (group.path != *path || !group.peak_bytes) continue;
    uint64_t highest = 0;
    for (const TimelinePoint& point : input.timeline->points)
      highest = std::max(highest, point.pss_bytes);
    // Others may have been in the group before us, and have set it.
    const uint64_t mark =
        std::max(*group.peak_bytes, input.group.highest_mark_bytes.value_or(0));
    const bool is_older = input.group.first_mark_bytes == mark;
    marks.insert(marks.begin(), {"high-water mark of the cgroup", mark, highest,
                                 true, is_older});
  }
  return marks;
}

// What the report tells of the tick beside its composition.
TimelinePoint point_of(const model::Sample& sample) {
  TimelinePoint point;
  const uint64_t page_bytes =
      sample.machine ? sample.machine->page_size_bytes : 4096;
  for (const model::Process& process : sample.processes) {
    if (process.statm) {
      point.resident_bytes += process.statm->resident_pages * page_bytes;
    }
  }
  if (!sample.machine) return point;
  const model::MemInfo& info = sample.machine->meminfo;
  point.available_bytes = info.available_bytes;
  if (info.free_bytes && info.buffers_bytes && info.cached_bytes &&
      info.shmem_bytes && info.slab_reclaimable_bytes) {
    point.available_computed_bytes = *info.free_bytes + *info.buffers_bytes +
                                     *info.cached_bytes - *info.shmem_bytes +
                                     info.swap_cached_bytes.value_or(0) +
                                     *info.slab_reclaimable_bytes;
  }
  return point;
}

}  // namespace

void GroupMarks::add(const model::Cgroup& group) {
  if (group.peak_bytes) {
    highest_mark_bytes =
        std::max(highest_mark_bytes.value_or(0), *group.peak_bytes);
  }
  if (std::exchange(has_first_, true)) return;
  first_mark_bytes = group.peak_bytes.value;
  first_charged_bytes = group.charged_bytes.value;
}

std::optional<uint64_t> own_group_mark(const GroupMarks& marks,
                                       uint64_t first_seen_bytes) {
  if (has_others(marks, first_seen_bytes) ||
      marks.first_mark_bytes == marks.highest_mark_bytes)
    return std::nullopt;
  return marks.highest_mark_bytes;
}

std::optional<std::string> common_group(const model::Sample& sample) {
  std::set<std::string> groups;
  for (const model::Process& process : sample.processes) {
    if (!process.cgroup_path.empty()) groups.insert(process.cgroup_path);
  }
  // The mark of a group that others are in as well says nothing about ours.
  if (groups.size() != 1 || *groups.begin() == "/") return std::nullopt;
  return *groups.begin();
}

std::string_view peak_metric_name(PeakMetric metric) {
  switch (metric) {
    case PeakMetric::Pss:
      return "PSS";
    case PeakMetric::Rss:
      return "RSS";
    case PeakMetric::Statm:
      return "statm";
    case PeakMetric::Available:
      return "MemAvailable";
    case PeakMetric::AvailableComputed:
      return "MemAvailableComputed";
  }
  return "PSS";
}

bool is_of_machine(PeakMetric metric) {
  return metric == PeakMetric::Available ||
         metric == PeakMetric::AvailableComputed;
}

std::optional<size_t> find_peak(const model::Timeline& timeline,
                                PeakMetric metric) {
  std::optional<size_t> best;
  for (size_t i = 0; i < timeline.points.size(); ++i) {
    const std::optional<uint64_t> height =
        height_of(timeline.points[i], metric);
    if (!height) continue;
    if (!best) {
      best = i;
      continue;
    }
    const uint64_t highest = *height_of(timeline.points[*best], metric);
    const bool is_better =
        is_of_machine(metric) ? *height < highest : *height > highest;
    if (is_better) best = i;
  }
  return best;
}

std::string recorded_name(const model::RecordedProcess& process) {
  // What has ended has no arguments any more.
  auto called =
      std::ranges::find_if(process.images.rbegin(), process.images.rend(),
                           [](const model::RecordedImage& image) {
                             return !image.command_line.empty();
                           });
  if (called == process.images.rend()) called = process.images.rbegin();
  model::Process named;
  named.stat.comm = called->comm;
  named.command_line = called->command_line;
  return display_name(named) + " (" + std::to_string(process.process.pid) + ")";
}

PeakReport make_peak_report(const PeakInput& input) {
  PeakReport report;
  report.path = input.path;
  report.targets = input.info->targets;
  report.metric = input.metric;
  report.is_asked_moment = input.is_asked_moment;
  report.tick = (*input.ticks)[input.tick_index];
  report.tick_count = static_cast<uint64_t>(input.ticks->back().id) + 1;
  report.elapsed_ns =
      report.tick.monotonic_ns - input.ticks->front().monotonic_ns;
  report.point = input.timeline != nullptr
                     ? input.timeline->points[input.tick_index]
                     : point_of(*input.sample);
  report.composition = compose(*input.sample);
  report.rows = rows_of(report.composition, input.row_limit);
  if (input.earlier != nullptr) {
    report.change_since_ns = report.tick.monotonic_ns -
                             (*input.ticks)[input.earlier_index].monotonic_ns;
    fill_changes(input, report);
    std::erase_if(report.rows, [](const PeakRow& row) {
      return row.bytes == Bytes() && !row.change_bytes;
    });
  }
  if (input.timeline != nullptr) report.marks = marks_of(input);
  report.growing = input.growing;
  report.machine = input.sample->machine;
  return report;
}

}  // namespace tidemark::analysis
