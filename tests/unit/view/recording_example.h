// Reports on recordings in which every place that a stranger can write into
// holds one name.
#pragma once

#include <string>

#include "analysis/diff_report.h"
#include "analysis/info_report.h"
#include "analysis/peak_report.h"
#include "analysis/watcher_listing.h"

namespace tidemark::view {

inline constexpr uint64_t kPartBytes = uint64_t{10} << 20;

inline analysis::Bytes bytes_of(uint64_t pss) {
  return {.rss = 2 * pss, .pss = pss, .uss = pss / 2, .swap = pss / 4};
}

// Two processes, each with a file and a shared object of its own.
inline analysis::Composition named_composition(const std::string& name,
                                               uint64_t pss) {
  analysis::Composition all;
  for (int32_t pid : {42, 43}) {
    analysis::Holder& holder = all.processes.emplace_back();
    holder.id = {pid, 1};
    holder.name = name;
    holder.bytes = bytes_of(pss);
    holder.kinds[model::Category::Anon] = holder.bytes;
    holder.has_split = true;
    all.total.add(holder.bytes);
  }
  all.parts.push_back({model::Category::File, name, bytes_of(pss), 1});
  all.parts.push_back({model::Category::Shm, name, bytes_of(pss), 1});
  return all;
}

inline analysis::Trend named_trend(const std::string& name) {
  analysis::Trend trend;
  trend.category = model::Category::Heap;
  trend.name = name;
  trend.bytes_per_second = 4096;
  trend.growth_bytes = 1 << 20;
  trend.span_ns = 1'000'000'000;
  trend.sample_count = 20;
  return trend;
}

inline analysis::DiffReport named_diff_report(const std::string& name) {
  analysis::DiffReport report =
      analysis::make_diff_report(named_composition(name, kPartBytes),
                                 named_composition(name, 3 * kPartBytes));
  report.before_label = report.after_label = name;
  return report;
}

inline analysis::PeakReport named_peak_report(const std::string& name) {
  analysis::PeakReport report;
  report.path = report.targets = name;
  report.composition = named_composition(name, kPartBytes);
  for (const analysis::Part& part : report.composition.parts)
    report.rows.push_back({part.category, part.name, 0, part.bytes, 7});
  report.change_since_ns = 1'000'000'000;
  report.marks.push_back({"VmHWM of " + name, 2 * kPartBytes, kPartBytes});
  report.growing = {named_trend(name)};
  return report;
}

inline analysis::InfoReport named_info_report(const std::string& name) {
  analysis::InfoReport report;
  report.path = name;
  report.info.tool = report.info.targets = report.info.budget = name;
  report.info.host = report.info.kernel = report.info.origin = name;
  report.tick_count = 2;
  report.elapsed_ns = {0, 1};
  report.last.monotonic_ns = 1;
  report.missed_count = 1;
  report.missed_reasons = {{name, 1}};
  model::RecordedProcess& process = report.processes.emplace_back();
  process.images.push_back({});
  process.images.back().comm = name;
  report.notes = {{name, 2, 0, name}};
  report.tables = {{name, 1, 4096}};
  report.growing = {named_trend(name)};
  report.timeline.points.resize(2);
  report.timeline.points[1].pss_bytes = kPartBytes;
  return report;
}

}  // namespace tidemark::view
