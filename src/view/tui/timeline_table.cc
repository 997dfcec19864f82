#include "view/tui/timeline_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analysis/process_use.h"
#include "base/escape.h"
#include "base/units.h"
#include "view/tui/machine_pictures.h"
#include "view/tui/numbers.h"
#include "view/tui/timeline_picture.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopSnapshot;
using analysis::TopTimeline;
using analysis::TopTimelinePoint;
using model::Category;

struct HolderSum {
  uint64_t bytes = 0;
  size_t count = 0;
};

// What each row is made of, over the processes that the timeline is of.
struct KindSum {
  Category kind = Category::Unnamed;
  uint64_t bytes = 0;
  uint64_t private_bytes = 0;
  std::optional<int64_t> growth_bytes;
  std::map<std::string, HolderSum> holders;  // or kinds, of a program
};
using RowSums = std::map<std::string, KindSum>;

std::string grouped_name(const model::Process& process, Category kind,
                         TimelineGroup by) {
  if (by == TimelineGroup::Program) return analysis::display_name(process);
  if (by == TimelineGroup::Cgroup) return process.cgroup_path;
  return std::string(model::category_name(kind));
}

void add_growth(const TopSnapshot& whole, const model::Process& process,
                KindSum& sum) {
  const analysis::TopSeries* series =
      whole.history ? whole.history->of(process.id) : nullptr;
  const std::optional<int64_t> growth =
      series == nullptr ? std::nullopt : growth_in(*series);
  if (growth) sum.growth_bytes = sum.growth_bytes.value_or(0) + *growth;
}

RowSums sums_at(const TopTimeline& timeline, const TopSnapshot& whole,
                KindsAt& now) {
  RowSums sums;
  const std::vector<model::Process>& processes = whole.sample.processes;
  const size_t count = std::min(processes.size(), whole.details.size());
  for (size_t i = 0; i < count; ++i) {
    if (!timeline.chosen.has(processes[i].id)) continue;
    const analysis::TopDetail& detail = whole.details[i];
    const bool is_by_kind = now.by == TimelineGroup::Kind;
    const std::string name = analysis::display_name(processes[i]);
    KindSum* last = nullptr;
    for (const analysis::CategoryUse& use : detail.kinds) {
      const uint64_t bytes = use.pss_bytes;
      now.swap_bytes += use.swap_pss_bytes;
      if (bytes == 0) continue;
      KindSum& sum = sums[grouped_name(processes[i], use.category, now.by)];
      sum.kind = use.category;
      sum.bytes += bytes;
      sum.private_bytes += std::min(use.private_bytes, bytes);
      HolderSum& holder =
          sum.holders[is_by_kind
                          ? name
                          : std::string(model::category_name(use.category))];
      holder.bytes += bytes;
      // Kinds are not counted: how many processes have them is no matter.
      holder.count = is_by_kind ? holder.count + 1 : 1;
      last = &sum;
    }
    if (!is_by_kind && last != nullptr) add_growth(whole, processes[i], *last);
  }
  return sums;
}

// Memory that several share is in the bound of each of them, and in the kinds
// of the point once.
void count_once(const TopTimelinePoint& point, RowSums& sums) {
  for (auto& [name, sum] : sums) {
    sum.bytes = std::min(sum.bytes, point.kinds[static_cast<size_t>(sum.kind)]);
    sum.private_bytes = std::min(sum.private_bytes, sum.bytes);
  }
}

// What had only a bound at an end may have been of any kind: once it is read,
// it only seems to move from one to another.
bool can_compare(const TopTimelinePoint& before, const TopTimelinePoint& now) {
  constexpr uint64_t kNegligible = 50;
  return (before.bounded_bytes + now.bounded_bytes) * kNegligible <= now.sum();
}

// Of what was not read as a whole: kinds, and nothing of whose they are.
RowSums sums_of(const TopTimelinePoint& point) {
  RowSums sums;
  for (Category kind : kTimelineBands) {
    KindSum& sum = sums[std::string(model::category_name(kind))];
    sum.kind = kind;
    sum.bytes = point.kinds[static_cast<size_t>(kind)];
  }
  return sums;
}

Category largest_kind(const KindSum& sum) {
  Category largest = sum.kind;
  uint64_t bytes = 0;
  for (Category kind : model::kCategories) {
    const auto held = sum.holders.find(std::string(model::category_name(kind)));
    if (held == sum.holders.end() || held->second.bytes <= bytes) continue;
    bytes = held->second.bytes;
    largest = kind;
  }
  return largest;
}

// "osm2pgsql 98 %, python3", "postgres ×14".
std::string mostly_of(const KindSum& sum) {
  constexpr size_t kNamed = 3;
  constexpr uint64_t kNearlyAllPercent = 75;
  std::vector<std::pair<std::string, HolderSum>> sorted(sum.holders.begin(),
                                                        sum.holders.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) {
    return a.second.bytes > b.second.bytes;
  });
  std::string words;
  for (size_t i = 0; i < std::min(sorted.size(), kNamed); ++i) {
    const auto& [name, holder] = sorted[i];
    if (i > 0) words += ", ";
    words += base::visible(name);
    if (holder.count > 1) words += fmt::format(" ×{}", holder.count);
    const uint64_t percent =
        holder.bytes * 100 / std::max<uint64_t>(sum.bytes, 1);
    if (i == 0 && sorted.size() > 1 && percent >= kNearlyAllPercent)
      words += fmt::format(" {} %", percent);
  }
  if (sorted.size() > kNamed) words += " …";
  return words;
}

std::vector<std::optional<uint64_t>> series_of(const TopTimeline& timeline,
                                               Category kind) {
  std::vector<std::optional<uint64_t>> values;
  values.reserve(timeline.points.size());
  for (const TopTimelinePoint& point : timeline.points)
    values.emplace_back(point.kinds[static_cast<size_t>(kind)]);
  return values;
}

}  // namespace

std::string_view group_head(TimelineGroup by) {
  switch (by) {
    case TimelineGroup::Program:
      return "PROGRAM";
    case TimelineGroup::Cgroup:
      return "CONTROL GROUP";
    case TimelineGroup::Kind:
      break;
  }
  return "KIND";
}

std::string bound_size(uint64_t bytes, bool is_bound) {
  return (is_bound ? "≤" : "") + base::short_size(bytes);
}

KindsAt kinds_at(const TopTimeline& timeline, size_t moment,
                 const TopSnapshot* whole, TimelineGroup by) {
  const TopTimelinePoint& point = timeline.points[moment];
  size_t before = moment;
  while (before > 0 && point.elapsed_ns - timeline.points[before].elapsed_ns <
                           analysis::kTopHistoryNs)
    --before;
  KindsAt now;
  now.is_whole = whole != nullptr;
  now.by = now.is_whole ? by : TimelineGroup::Kind;
  now.is_bound = point.is_bound();
  now.swap_bytes = now.is_whole ? 0 : point.swap_bytes;
  RowSums sums = now.is_whole ? sums_at(timeline, *whole, now) : sums_of(point);
  const bool is_by_kind = now.by == TimelineGroup::Kind;
  if (now.is_bound && is_by_kind) count_once(point, sums);
  for (const auto& [name, sum] : sums) {
    const bool is_band =
        std::ranges::find(kTimelineBands, sum.kind) != std::end(kTimelineBands);
    if (sum.bytes == 0 || !is_band) continue;
    now.sum_bytes += sum.bytes;
    KindAt row = {
        name,          sum.kind, sum.bytes, sum.private_bytes, sum.growth_bytes,
        mostly_of(sum)};
    if (is_by_kind) {
      if (can_compare(timeline.points[before], point)) {
        row.growth_bytes =
            static_cast<int64_t>(sum.bytes) -
            static_cast<int64_t>(
                timeline.points[before].kinds[static_cast<size_t>(sum.kind)]);
      }
    } else {
      row.kind = largest_kind(sum);
    }
    now.kinds.push_back(std::move(row));
  }
  if (now.is_bound && !is_by_kind) {
    now.sum_bytes = std::min(now.sum_bytes, point.sum());
  }
  std::ranges::stable_sort(now.kinds, std::ranges::greater(), &KindAt::bytes);
  return now;
}

std::string mark_words(const TopTimeline& timeline, size_t moment,
                       const KindsAt& now) {
  if (!timeline.mark_bytes || moment != timeline.highest || now.is_bound ||
      *timeline.mark_bytes < now.sum_bytes)
    return {};
  return "+ " + base::short_size(*timeline.mark_bytes - now.sum_bytes) +
         " not explained = " + base::short_size(*timeline.mark_bytes);
}

TimelineTable::TimelineTable(Canvas& canvas, const Look& look,
                             const TopTimeline& timeline, const KindsAt& now)
    : canvas_(canvas),
      look_(look),
      timeline_(timeline),
      now_(now),
      layout_(layout_of(canvas.columns(), now.is_whole)) {}

TimelineTable::Layout TimelineTable::layout_of(int columns, bool is_whole) {
  Layout layout;
  if (columns >= 132) {
    layout = {12, 44, 51, 61, 70, 80, 83, columns - 106, columns - 21, 20};
  } else if (columns >= 72) {
    layout = {1, 33, 0, 0, 0, 42, 45, columns - 46, 0, 0};
  } else if (columns >= 60) {
    layout = {1, 33, 50, 0, 0, 42, 0, 0, 0, 0};
  } else {
    layout = {1, columns - 10, 0, 0, 0, columns - 1, 0, 0, 0, 0};
  }
  if (is_whole) return layout;
  if (layout.mostly > 0 && layout.percent == 0) layout.percent = 50;
  layout.own = layout.shared = layout.mostly = 0;
  return layout;
}

void TimelineTable::put(int end, int row, const std::string& words,
                        Role role) const {
  if (end > 0) canvas_.put_right(end, row, words, paint(role));
}

void TimelineTable::draw_head(size_t moment, int row) const {
  const bool is_peak = std::ranges::binary_search(timeline_.peaks, moment);
  std::string words =
      is_peak
          ? "At the peak"
          : "At " + base::clock_duration(timeline_.points[moment].elapsed_ns);
  const std::string of =
      timeline_.of.empty() ? "" : base::visible(timeline_.of) + " alone";
  const bool is_wide = layout_.glyph > 1;
  if (!is_wide && !of.empty()) words = of;
  const int name = layout_.glyph + 2;
  canvas_.put_within(1, row, is_wide ? name - 2 : layout_.pss - 6, words,
                     paint(is_peak || !of.empty() ? Role::Strong : Role::Dim));
  if (is_wide) {
    const std::string head(group_head(now_.by));
    canvas_.put_within(name, row, layout_.pss - 6 - name,
                       of.empty() ? head : head + " of " + of,
                       paint(Role::Dim));
  }
  put(layout_.pss, row, "PSS", Role::Strong);
  put(layout_.percent, row, "%", Role::Dim);
  put(layout_.own, row, "PRIVATE", Role::Dim);
  put(layout_.shared, row, "SHARED", Role::Dim);
  put(layout_.growth, row, "10 MIN", Role::Dim);
  if (layout_.mostly > 0)
    canvas_.put(layout_.mostly, row, "MOSTLY", paint(Role::Dim));
  if (layout_.trend > 0 && now_.by == TimelineGroup::Kind)
    canvas_.put(layout_.trend, row, "WHOLE RUN", paint(Role::Dim));
}

void TimelineTable::draw_kind(const KindAt& kind, int row) const {
  canvas_.set(layout_.glyph, row, band_glyph(look_, kind.kind),
              paint(role_of(kind.kind)));
  const int name = layout_.glyph + 2;
  canvas_.put_within(name, row, layout_.pss - 7 - name,
                     base::visible(kind.name), paint(Role::Plain));
  put(layout_.pss, row, bound_size(kind.bytes, now_.is_bound), Role::Strong);
  put(layout_.percent, row,
      fmt::format("{:.1f}", static_cast<double>(kind.bytes) * 100.0 /
                                static_cast<double>(
                                    std::max<uint64_t>(now_.sum_bytes, 1))),
      Role::Plain);
  put(layout_.own, row,
      now_.is_bound ? "?" : base::short_size(kind.private_bytes),
      now_.is_bound ? Role::Unknown : Role::Plain);
  put(layout_.shared, row,
      now_.is_bound ? "?" : base::short_size(kind.bytes - kind.private_bytes),
      now_.is_bound ? Role::Unknown : Role::Plain);
  put_growth(canvas_, layout_.growth, row, kind.growth_bytes);
  if (layout_.mostly > 0) {
    canvas_.put_within(layout_.mostly, row, layout_.mostly_columns, kind.mostly,
                       paint(Role::Dim));
  }
  if (layout_.trend == 0 || now_.by != TimelineGroup::Kind) return;
  const std::u32string picture =
      trend(look_, series_of(timeline_, kind.kind),
            static_cast<size_t>(layout_.trend_cells));
  for (size_t i = 0; i < picture.size(); ++i) {
    canvas_.set(layout_.trend + static_cast<int>(i), row, picture[i],
                paint(role_of(kind.kind)));
  }
}

void TimelineTable::draw_rest(size_t first, int row) const {
  uint64_t bytes = 0;
  std::string names;
  for (size_t i = first; i < now_.kinds.size(); ++i) {
    bytes += now_.kinds[i].bytes;
    names += (names.empty() ? "" : ", ") + base::visible(now_.kinds[i].name);
  }
  canvas_.put(layout_.glyph + 2, row,
              std::to_string(now_.kinds.size() - first) + " more",
              paint(Role::Dim));
  put(layout_.pss, row, bound_size(bytes, now_.is_bound), Role::Plain);
  if (layout_.mostly > 0) {
    canvas_.put_within(layout_.mostly, row, layout_.mostly_columns, names,
                       paint(Role::Dim));
  }
}

void TimelineTable::draw_sum(size_t moment, int row) const {
  uint64_t own = 0;
  for (const KindAt& kind : now_.kinds)
    own += kind.private_bytes;
  canvas_.put(layout_.glyph + 2, row, "sum", paint(Role::Strong));
  put(layout_.pss, row, bound_size(now_.sum_bytes, now_.is_bound),
      Role::Strong);
  put(layout_.percent, row, "100", Role::Plain);
  if (now_.is_bound) return;
  const std::string mark = mark_words(timeline_, moment, now_);
  if (!mark.empty() && layout_.own > 0) {
    canvas_.put(layout_.percent + 2, row,
                mark + " high-water mark of the cgroup", paint(Role::Strong));
    return;
  }
  put(layout_.own, row, base::short_size(own), Role::Plain);
  put(layout_.shared, row, base::short_size(now_.sum_bytes - own), Role::Plain);
}

void TimelineTable::draw(size_t moment, int row, int rows) const {
  draw_head(moment, row);
  const size_t lines = static_cast<size_t>(std::max(rows - 1, 0));
  for (size_t i = 0; i < std::min(lines, now_.kinds.size()); ++i) {
    const int line = row + 1 + static_cast<int>(i);
    if (i + 1 == lines && i + 1 < now_.kinds.size()) return draw_rest(i, line);
    draw_kind(now_.kinds[i], line);
  }
  if (lines > now_.kinds.size())
    draw_sum(moment, row + 1 + static_cast<int>(now_.kinds.size()));
}

}  // namespace tidemark::view::tui
