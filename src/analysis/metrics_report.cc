#include "analysis/metrics_report.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/metric_families.h"
#include "base/clock.h"
#include "base/escape.h"

namespace tidemark::analysis {
namespace {

using model::MetricFamily;
using model::MetricLabel;

// All that is left when the others have their rows. No program is called so:
// the kernel's names have no parentheses of their own around them.
constexpr const char* kOther = "(other)";

struct ProgramSums {
  uint64_t process_count = 0;
  uint64_t rss_bytes = 0;
  Use use;  // of the last reading of shares
  uint64_t read_count = 0;
};

using Programs = std::map<std::string, ProgramSums>;

Programs sum_programs(const std::vector<CountedProcess>& processes,
                      const ShareReading* shares,
                      const std::unordered_set<std::string>* chosen) {
  const auto row_name = [&](const std::string& name) -> std::string {
    return chosen == nullptr || chosen->contains(name) ? name : kOther;
  };
  Programs programs;
  for (const CountedProcess& process : processes) {
    ProgramSums& sums = programs[row_name(process.program)];
    ++sums.process_count;
    sums.rss_bytes += process.rss_bytes;
  }
  if (shares == nullptr) return programs;
  for (const SharedProcess& process : shares->processes) {
    ProgramSums& sums = programs[row_name(process.program)];
    sums.use.add(process.use);
    ++sums.read_count;
  }
  return programs;
}

void add_use(FamilyWriter& bytes, const std::vector<MetricLabel>& labels,
             const Use& use) {
  const auto add = [&](const char* measure, const model::Amount& amount) {
    if (amount.has_known) bytes.add(labels, measure, amount.bytes);
  };
  add("pss", use.pss);
  add("uss", use.uss);
  add("swap_pss", use.swap_pss);
  add("hugetlb", use.hugetlb);
  add("kernel", use.kernel);
  if (!use.pss.has_known) return;
  bytes.add(labels, "footprint",
            use.pss.bytes + use.hugetlb.bytes + use.swap_pss.bytes);
}

void add_programs(const MetricsInput& input, Families& families) {
  FamilyWriter bytes(families, kProgramBytes);
  FamilyWriter peaks(families, kProgramPeakBytes);
  FamilyWriter counts(families, kProgramProcesses);
  FamilyWriter unread(families, kProgramUnread);
  Programs programs =
      sum_programs(input.processes, input.shares, &input.programs);
  // Those that are chosen for a peak and have ended since have that alone.
  for (const std::string& name : input.programs)
    programs.try_emplace(name);
  for (const auto& [name, sums] : programs) {
    const std::vector<MetricLabel> labels = {
        {"program", base::valid_utf8(name)}};
    counts.add(labels, static_cast<double>(sums.process_count));
    if (sums.process_count > 0) bytes.add(labels, "rss", sums.rss_bytes);
    if (sums.read_count > 0) add_use(bytes, labels, sums.use);
    if (sums.use.pss.has_unknown) {
      uint64_t unknown_count = 0;
      for (const SharedProcess& process : input.shares->processes) {
        const bool is_here =
            process.program == name ||
            (name == kOther && !input.programs.contains(process.program));
        unknown_count += is_here && process.use.pss.is_unknown() ? 1 : 0;
      }
      unread.add(labels, static_cast<double>(unknown_count));
    }
    // Peaks of many do not add up: they were at different times.
    if (name == kOther) continue;
    const uint64_t* peak = input.peaks.find(PeakScope::Program, name);
    if (peak == nullptr && sums.process_count == 0) continue;
    peaks.add(labels, "rss",
              std::max(sums.rss_bytes, peak == nullptr ? 0 : *peak));
  }
}

void add_processes(const MetricsInput& input, size_t limit,
                   Families& families) {
  std::vector<const CountedProcess*> largest;
  for (const CountedProcess& process : input.processes)
    largest.push_back(&process);
  const size_t shown = std::min(limit, largest.size());
  std::ranges::partial_sort(
      largest, largest.begin() + static_cast<std::ptrdiff_t>(shown),
      std::ranges::greater(), &CountedProcess::rss_bytes);
  largest.resize(shown);
  std::unordered_map<int32_t, const SharedProcess*> shared;
  if (input.shares != nullptr) {
    for (const SharedProcess& process : input.shares->processes)
      shared.emplace(process.id.pid, &process);
  }
  FamilyWriter bytes(families, kProcessBytes);
  for (const CountedProcess* process : largest) {
    const std::vector<MetricLabel> labels = {
        {"pid", std::to_string(process->id.pid)},
        {"program", base::valid_utf8(process->program)}};
    bytes.add(labels, "rss", process->rss_bytes);
    const auto found = shared.find(process->id.pid);
    if (found != shared.end() && found->second->id == process->id) {
      add_use(bytes, labels, found->second->use);
    }
  }
}

// Those of the window that are not among the ranked: they are there no more.
void add_gone(PeakScope scope, const PeakWindow& peaks,
              std::vector<RankedName>& ranks) {
  std::unordered_set<std::string> present;
  for (const RankedName& rank : ranks)
    present.insert(rank.name);
  for (std::string& name : peaks.names_from(scope, kLeastGonePeakBytes)) {
    if (present.contains(name)) continue;
    const uint64_t bytes = *peaks.find(scope, name);
    ranks.push_back({std::move(name), bytes});
  }
}

// Drops from the end what is beyond the limit: the scopes with most rows and
// least meaning stand last.
uint64_t cut_to(size_t limit, Families& families) {
  size_t count = 0;
  uint64_t dropped = 0;
  for (MetricFamily& family : families) {
    const size_t room = limit - std::min(limit, count);
    if (family.samples.size() > room) {
      dropped += family.samples.size() - room;
      family.samples.resize(room);
    }
    count += family.samples.size();
  }
  return dropped;
}

void add_rows(const MetricsInput& input, const MetricsLimits& limits,
              Families& families) {
  const std::pair<const char*, std::pair<size_t, size_t>> scopes[] = {
      {"program", {input.programs.size(), limits.program_count}},
      {"cgroup",
       {input.cgroups.size() + input.gone_cgroups.size(), limits.cgroup_count}},
      {"process",
       {std::min(limits.process_count, input.processes.size()),
        limits.process_count}},
      {"vm",
       {input.shares != nullptr && input.shares->vms
            ? input.shares->vms->rows.size()
            : 0,
        limits.vm_count}},
  };
  FamilyWriter rows(families, kScopeRows);
  FamilyWriter most(families, kScopeLimit);
  for (const auto& [scope, numbers] : scopes) {
    rows.add({{"scope", scope}}, static_cast<double>(numbers.first));
    most.add({{"scope", scope}}, static_cast<double>(numbers.second));
  }
}

}  // namespace

std::string program_name(const model::Process& process) {
  std::string name = display_name(process);
  const size_t colon = name.find(": ");
  if (colon != std::string::npos) name.resize(colon);
  // A title may be as long as its author likes.
  constexpr size_t kMostBytes = 64;
  if (name.size() > kMostBytes) name.resize(kMostBytes);
  return name;
}

std::vector<RankedName> rank_programs(
    const std::vector<CountedProcess>& processes, const ShareReading* shares,
    const PeakWindow& peaks) {
  std::vector<RankedName> ranks;
  for (const auto& [name, sums] : sum_programs(processes, shares, nullptr)) {
    const uint64_t* peak = peaks.find(PeakScope::Program, name);
    const uint64_t footprint =
        sums.use.pss.bytes + sums.use.hugetlb.bytes + sums.use.swap_pss.bytes;
    ranks.push_back({name, std::max({footprint > 0 ? footprint : sums.rss_bytes,
                                     peak == nullptr ? 0 : *peak})});
  }
  add_gone(PeakScope::Program, peaks, ranks);
  return ranks;
}

std::vector<RankedName> rank_groups(std::vector<RankedName> groups,
                                    const PeakWindow* peaks) {
  if (peaks == nullptr) return groups;
  for (RankedName& group : groups) {
    const uint64_t* peak = peaks->find(PeakScope::Cgroup, group.name);
    if (peak != nullptr) group.bytes = std::max(group.bytes, *peak);
  }
  add_gone(PeakScope::Cgroup, *peaks, groups);
  return groups;
}

std::vector<MetricFamily> make_metrics(const MetricsInput& input,
                                       const MetricsLimits& limits) {
  Families families;
  add_reader(input, families);
  add_rows(input, limits, families);
  add_machine(input, families);
  add_cgroups(input, families);
  add_programs(input, families);
  add_vms(input, limits.vm_count, families);
  if (limits.process_count > 0) {
    add_processes(input, limits.process_count, families);
  }
  // Those that tell of the bound and of the time count too.
  constexpr size_t kOwnSeries = 4;
  const size_t room =
      limits.series_count - std::min(limits.series_count, kOwnSeries);
  const uint64_t dropped = cut_to(room, families);
  const size_t count = model::series_count(families) + kOwnSeries;
  Families bounds;
  FamilyWriter(bounds, kSeries).add({}, static_cast<double>(count));
  FamilyWriter(bounds, kSeriesLimit)
      .add({}, static_cast<double>(limits.series_count));
  FamilyWriter(bounds, kSeriesDropped).add({}, static_cast<double>(dropped));
  std::erase_if(families, [](const MetricFamily& family) {
    return family.samples.empty();
  });
  families.insert(families.begin(), bounds.begin(), bounds.end());
  return families;
}

void add_scrape_time(uint64_t took_ns, std::vector<MetricFamily>& families) {
  FamilyWriter(families, {"tidemark_scrape_duration_seconds", "seconds",
                          "What reading for this scrape took."})
      .add({}, static_cast<double>(took_ns) /
                   static_cast<double>(base::kNsPerSecond));
}

}  // namespace tidemark::analysis
