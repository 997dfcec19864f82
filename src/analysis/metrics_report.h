// Families of numbers for engines that keep series: few, with stable names, one
// for each scope, told apart by `measure`. Pure: what was read comes in, with
// who was chosen to have series.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "analysis/metric_roster.h"
#include "analysis/metric_windows.h"
#include "analysis/process_use.h"
#include "analysis/system_report.h"
#include "analysis/vm_report.h"
#include "model/metrics.h"
#include "model/sample.h"

namespace tidemark::analysis {

// The name that processes of one program share: that of `ps`, without what a
// process says about its work ("postgres: checkpointer" is postgres).
std::string program_name(const model::Process& process);

// A process by its counters, read on the fast clock.
struct CountedProcess {
  model::ProcessId id;
  std::string program;
  std::string cgroup_path;
  uint64_t rss_bytes = 0;
};

// And by its shares, read on the slow one.
struct SharedProcess {
  model::ProcessId id;
  std::string program;
  std::string cgroup_path;
  Use use;
};

// One reading of shares.
struct ShareReading {
  uint64_t ended_ns = 0;  // monotonic
  uint64_t took_ns = 0;
  std::vector<SharedProcess> processes;
  uint64_t denied_count = 0;  // may not be read
  uint64_t spared_count = 0;  // so large that reading would stall them
  std::optional<VmReport> vms;
  std::string vms_unknown_because;
};

struct MetricsLimits {
  size_t program_count = 30;
  size_t cgroup_count = 100;
  size_t vm_count = 50;
  size_t process_count = 0;  // none have series of their own unless asked for
  size_t series_count = 5000;
};

// What the reader tells of itself.
struct ReaderFacts {
  std::string version;
  uint64_t sample_period_ns = 0;  // of the fast clock, as it is kept
  uint64_t missed_tick_count = 0;
  uint64_t scrape_limit_ns = 0;
  uint64_t ledger_age_ns = 0;
  uint64_t refused_name_count = 0;
  size_t scraper_count = 0;
  size_t group_total_count = 0;  // there are, with series or without
  bool was_cut_short = false;    // the time of a scrape was over
};

// Pages taken since a trace began and not given back.
struct TraceHeight {
  std::string backend;
  uint64_t bytes = 0;
  uint64_t peak_bytes = 0;
};

struct MetricsInput {
  uint64_t now_ns = 0;  // monotonic
  const model::Machine* machine = nullptr;
  const SystemReport* system = nullptr;
  std::vector<CountedProcess> processes;
  std::vector<model::Cgroup> cgroups;        // the chosen
  std::vector<std::string> gone_cgroups;     // chosen, and there no more
  std::unordered_set<std::string> programs;  // the chosen
  const ShareReading* shares = nullptr;      // null before the first
  std::optional<TraceHeight> trace;
  PeakWindow peaks;
  ReaderFacts reader;
};

// What came and went between two scrapes is told when its peak was at least
// this. A machine starts many more things than a scraper finds running, each
// maybe under a name of its own, and the small ones would take the places.
inline constexpr uint64_t kLeastGonePeakBytes = uint64_t{64} << 20;

// What each program counts for when those with series are chosen: PSS with huge
// pages and swap where read, else RSS, or its peak of the window if higher.
std::vector<RankedName> rank_programs(
    const std::vector<CountedProcess>& processes, const ShareReading* shares,
    const PeakWindow& peaks);

// The same of groups, by what each is charged for now. `peaks` is null for a
// scraper that has no window yet.
std::vector<RankedName> rank_groups(std::vector<RankedName> groups,
                                    const PeakWindow* peaks);

std::vector<model::MetricFamily> make_metrics(const MetricsInput& input,
                                              const MetricsLimits& limits);

// How long all of it took, once that is known; counted in `series_count`.
void add_scrape_time(uint64_t took_ns,
                     std::vector<model::MetricFamily>& families);

}  // namespace tidemark::analysis
