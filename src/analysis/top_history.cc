#include "analysis/top_history.h"

#include <algorithm>

namespace tidemark::analysis {

std::optional<uint64_t> stalled_share(std::optional<uint64_t> before,
                                      std::optional<uint64_t> now,
                                      uint64_t passed_ns) {
  if (!before || !now || *now < *before || passed_ns == 0) return std::nullopt;
  const double share = static_cast<double>(*now - *before) /
                       static_cast<double>(passed_ns) * 1e6;
  return static_cast<uint64_t>(std::min(share, 1e6));
}

TopMachine top_machine(const SystemReport& report,
                       const model::MemInfo& meminfo) {
  TopMachine machine;
  machine.total_bytes = report.total_bytes;
  for (size_t i = 0; i < kSystemColumnCount; ++i) {
    const std::optional<int64_t>& bytes = report.columns[i].bytes.value;
    if (!bytes) continue;
    const model::Category kind =
        system_column_category(static_cast<SystemColumn>(i));
    machine.kinds[static_cast<size_t>(kind)] += *bytes;
  }
  machine.kinds[static_cast<size_t>(model::Category::Unnamed)] +=
      report.other_bytes;
  machine.available_bytes = meminfo.available_bytes;
  if (meminfo.swap_total_bytes && meminfo.swap_free_bytes &&
      *meminfo.swap_total_bytes >= *meminfo.swap_free_bytes) {
    machine.swap_used_bytes =
        *meminfo.swap_total_bytes - *meminfo.swap_free_bytes;
  }
  return machine;
}

const TopSeries* TopHistory::of(const model::ProcessId& id) const {
  auto found = processes.find({id.pid, id.start_ticks});
  return found == processes.end() ? nullptr : &found->second;
}

TopHistoryKeeper::TopHistoryKeeper(uint64_t span_ns, size_t point_count)
    : step_ns_(span_ns / std::max<size_t>(point_count, 1)),
      point_count_(point_count) {}

void TopHistoryKeeper::drop_oldest() {
  const auto drop = [](auto& list) { list.erase(list.begin()); };
  drop(history_.times_ns);
  drop(history_.machine);
  drop(history_.kinds);
  drop(history_.stalled_some);
  drop(history_.stalled_full);
  for (auto& [id, series] : history_.processes)
    drop(series);
}

void TopHistoryKeeper::add_pressure(const TopMoment& moment) {
  const uint64_t passed = moment.time_ns - pressure_time_ns_;
  history_.stalled_some.push_back(
      stalled_share(pressure_before_.some_ns, moment.pressure.some_ns, passed));
  history_.stalled_full.push_back(
      stalled_share(pressure_before_.full_ns, moment.pressure.full_ns, passed));
  pressure_before_ = moment.pressure;
  pressure_time_ns_ = moment.time_ns;
}

bool TopHistoryKeeper::add(const TopMoment& moment) {
  if (!history_.times_ns.empty() &&
      moment.time_ns < history_.times_ns.back() + step_ns_) {
    return false;
  }
  // One more than steps, so that a full history spans all of them.
  if (history_.times_ns.size() > point_count_) drop_oldest();
  const size_t before = history_.times_ns.size();
  history_.times_ns.push_back(moment.time_ns);
  history_.machine.push_back(moment.machine);
  history_.kinds.push_back(moment.kinds);
  add_pressure(moment);
  for (const auto& [id, bytes] : moment.processes) {
    TopSeries& series = history_.processes[{id.pid, id.start_ticks}];
    series.resize(before);
    series.push_back(bytes);
  }
  std::erase_if(history_.processes, [&](const auto& entry) {
    return entry.second.size() == before;
  });
  return true;
}

}  // namespace tidemark::analysis
