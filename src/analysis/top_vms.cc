#include "analysis/top_vms.h"

#include <algorithm>

namespace tidemark::analysis {

void add_vm_points(const VmReport& report, uint64_t time_ns, uint64_t span_ns,
                   TopVmHistory& history) {
  for (const VmRow& row : report.rows) {
    TopVmPoint point;
    point.time_ns = time_ns;
    for (const VmBand& band : row.bands)
      point.bytes[static_cast<size_t>(band.kind)] += band.bytes;
    history[{row.vm.id.pid, row.vm.id.start_ticks}].push_back(point);
  }
  std::erase_if(history, [&](const auto& entry) {
    return entry.second.back().time_ns != time_ns;
  });
  for (auto& [id, points] : history) {
    std::erase_if(points, [&](const TopVmPoint& point) {
      return point.time_ns + span_ns < time_ns;
    });
  }
}

}  // namespace tidemark::analysis
