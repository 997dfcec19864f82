#include "analysis/recorded_filter.h"

#include <algorithm>
#include <map>

#include "analysis/process_use.h"

namespace tidemark::analysis {
namespace {

model::Process process_under(const model::RecordedProcess& process,
                             const model::RecordedImage& image) {
  model::Process one;
  one.id = process.process;
  one.stat.pid = process.process.pid;
  one.stat.comm = image.comm;
  one.command_line = image.command_line;
  one.cgroup_path = image.cgroup_path;
  one.status.user_id = image.user_id;
  return one;
}

Use unknown_use() {
  model::Amount unknown;
  unknown.has_unknown = true;
  Use use;
  use.pss = use.uss = use.shared = use.rss = use.swap_pss = unknown;
  return use;
}

Use use_of_shares(const model::BandShares& shares) {
  Use use;
  use.pss = model::amount_of(shares.pss_bytes);
  use.uss = model::amount_of(shares.private_bytes);
  use.rss = model::amount_of(shares.rss_bytes);
  use.shared = model::amount_of(
      shares.rss_bytes - std::min(shares.rss_bytes, shares.private_bytes));
  use.swap_pss = model::amount_of(shares.swap_bytes);
  use.hugetlb = model::amount_of(0);
  return use;
}

// What each process had whenever that changed.
std::map<int64_t, std::vector<Use>> uses_over_time(const model::Bands& bands) {
  // Each kind of a process has points of its own: between two they hold.
  std::map<int64_t, std::vector<const model::Band*>> kinds;
  for (const model::Band& band : bands.by_process) {
    if (!band.process) continue;
    kinds[*band.process].push_back(&band);
  }
  std::map<int64_t, std::vector<Use>> uses;
  for (const auto& [process, parts] : kinds) {
    std::set<size_t> ticks;
    for (const model::Band* band : parts) {
      for (const model::BandPoint& point : band->points)
        ticks.insert(point.tick_index);
    }
    std::vector<size_t> next(parts.size());
    std::vector<model::BandShares> now(parts.size());
    for (size_t tick : ticks) {
      model::BandShares sum;
      for (size_t i = 0; i < parts.size(); ++i) {
        const auto& points = parts[i]->points;
        while (next[i] < points.size() && points[next[i]].tick_index <= tick)
          now[i] = points[next[i]++].shares;
        sum.rss_bytes += now[i].rss_bytes;
        sum.pss_bytes += now[i].pss_bytes;
        sum.private_bytes += now[i].private_bytes;
        sum.swap_bytes += now[i].swap_bytes;
      }
      uses[process].push_back(use_of_shares(sum));
    }
  }
  return uses;
}

}  // namespace

std::set<int64_t> ever_matching(
    const ProcessFilter& filter,
    const std::vector<model::RecordedProcess>& processes,
    const model::Bands& bands) {
  const std::map<int64_t, std::vector<Use>> uses = uses_over_time(bands);
  const std::vector<Use> unknown = {unknown_use()};
  std::set<int64_t> found;
  for (const model::RecordedProcess& process : processes) {
    const auto known = uses.find(process.id);
    const std::vector<Use>& over_time =
        known == uses.end() ? unknown : known->second;
    for (const model::RecordedImage& image : process.images) {
      const model::Process one = process_under(process, image);
      const auto is_met = [&](const Use& use) {
        return filter.matches(one, use, {});
      };
      if (std::ranges::any_of(over_time, is_met)) found.insert(process.id);
    }
  }
  return found;
}

}  // namespace tidemark::analysis
