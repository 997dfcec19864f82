// Reads a machine for `metrics`, on three clocks: counters many times a second,
// of which peaks are made; shares once a minute or so; the rest when a scraper
// asks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analysis/metric_roster.h"
#include "analysis/metric_windows.h"
#include "analysis/metrics_report.h"
#include "base/result.h"
#include "model/metrics.h"
#include "source/memory_counters.h"
#include "source/roots.h"
#include "source/system_source.h"
#include "watch/periodic_thread.h"
#include "watch/share_reader.h"
#include "watch/trace_means.h"

namespace tidemark::watch {

struct MetricsOptions {
  uint64_t sample_period_ns = 100'000'000;
  std::optional<uint64_t> share_period_ns = uint64_t{60} * 1'000'000'000;
  // For a whole scrape; what is not read by then is left out.
  uint64_t scrape_limit_ns = 500'000'000;
  ShareOptions shares;
  analysis::MetricsLimits limits;
  std::string version;
};

class MetricsSampler {
 public:
  MetricsSampler(const source::Roots& roots, const MetricsOptions& options);
  MetricsSampler(const MetricsSampler&) = delete;
  MetricsSampler& operator=(const MetricsSampler&) = delete;
  ~MetricsSampler();

  // Counters once. Fails where a machine cannot be read at all.
  base::Status read_counters();
  // Shares once; nothing where nobody wants them.
  void read_shares();
  // From here on what the kernel gives out is followed. Fails where no means to
  // do so works.
  base::Status begin_trace();
  // From here on counters and shares are read by threads.
  void start();

  // The machine now, with peaks since this scraper asked last. From any thread.
  base::Result<std::vector<model::MetricFamily>> scrape(
      const std::string& scraper);

 private:
  struct Chosen {
    std::vector<model::Cgroup> cgroups;
    std::vector<std::string> gone;  // they had a peak in the window
    bool was_cut_short = false;
  };

  void note_peaks(const std::optional<model::MemInfo>& meminfo);
  base::Status read_ledger();
  std::vector<analysis::CountedProcess> counted_processes();
  Chosen choose_groups(const std::string& scraper, uint64_t until_ns);
  analysis::ReaderFacts reader_facts(bool was_cut_short);
  std::optional<analysis::TraceHeight> trace_height();

  const source::Roots& roots_;
  MetricsOptions options_;
  std::atomic<bool> is_ending_{false};

  std::mutex counters_mutex_;  // of the three below
  std::optional<ChosenTrace> trace_;
  source::MemoryCounters counters_;
  analysis::MetricWindows windows_;

  std::mutex shares_mutex_;
  ShareReader share_reader_;  // of whoever reads shares alone
  std::optional<analysis::ShareReading> shares_;

  std::mutex scrape_mutex_;  // of all below: one scrape at a time
  source::SystemSource system_;
  source::CgroupHierarchy cgroups_;
  model::Sample ledger_sample_;
  std::optional<analysis::SystemReport> ledger_;
  uint64_t ledger_cost_ns_ = 0;
  uint64_t ledger_read_ns_ = 0;
  analysis::MetricRoster program_roster_;
  analysis::MetricRoster cgroup_roster_;

  std::string trace_backend_;
  std::unique_ptr<PeriodicThread> fast_;
  std::unique_ptr<PeriodicThread> slow_;
};

}  // namespace tidemark::watch
