#include "watch/metrics_sampler.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/clock.h"
#include "source/machine_reader.h"

namespace tidemark::watch {
namespace {

using analysis::PeakScope;

// Reading counters may take this share of a core; ticks are left out beyond.
constexpr double kFastShare = 0.03;
// A ledger that takes longer than this share of a scrape is read at most once
// in so many times its cost.
constexpr uint64_t kLedgerShare = 4;
constexpr uint64_t kLedgerPause = 50;

}  // namespace

MetricsSampler::MetricsSampler(const source::Roots& roots,
                               const MetricsOptions& options)
    : roots_(roots),
      options_(options),
      counters_(roots, analysis::program_name),
      share_reader_(roots, options.shares),
      system_(roots),
      cgroups_(source::CgroupHierarchy::find(roots)),
      program_roster_(options.limits.program_count),
      cgroup_roster_(options.limits.cgroup_count) {}

MetricsSampler::~MetricsSampler() {
  is_ending_ = true;
}

base::Status MetricsSampler::read_counters() {
  base::Result<model::MemInfo> meminfo = source::read_meminfo(roots_);
  const std::lock_guard lock(counters_mutex_);
  if (trace_) trace_->live->drain();
  base::Status status = counters_.read();
  if (!status) return status;
  note_peaks(meminfo ? std::optional(*meminfo) : std::nullopt);
  return base::Ok{};
}

void MetricsSampler::note_peaks(const std::optional<model::MemInfo>& meminfo) {
  if (windows_.scraper_count() == 0) return;
  if (meminfo && meminfo->total_bytes && meminfo->free_bytes) {
    windows_.note(analysis::peak_key(PeakScope::Machine, "used"),
                  *meminfo->total_bytes - *meminfo->free_bytes);
    if (meminfo->available_bytes) {
      windows_.note(
          analysis::peak_key(PeakScope::Machine, "unavailable"),
          *meminfo->total_bytes -
              std::min(*meminfo->total_bytes, *meminfo->available_bytes));
    }
  }
  std::unordered_map<std::string, uint64_t> programs;
  for (const auto& [pid, row] : counters_.processes()) {
    if (row.has_memory) programs[row.name] += row.rss_bytes;
  }
  for (const auto& [name, bytes] : programs)
    windows_.note(analysis::peak_key(PeakScope::Program, name), bytes);
  for (const auto& [path, row] : counters_.groups()) {
    if (!row.is_known) continue;
    windows_.note(analysis::peak_key(PeakScope::Cgroup, path),
                  row.charged_bytes);
  }
}

void MetricsSampler::read_shares() {
  if (!options_.share_period_ns) return;
  analysis::ShareReading reading = share_reader_.read(is_ending_);
  const std::lock_guard lock(shares_mutex_);
  shares_ = std::move(reading);
}

base::Status MetricsSampler::begin_trace() {
  base::Result<ChosenTrace> chosen = choose_trace(roots_, {});
  if (!chosen) return chosen.error();
  chosen->go();
  base::Result<model::Trace> first = chosen->read(roots_);
  if (!first) return first.error();
  trace_backend_ = model::trace_backend_token(first->backend);
  trace_.emplace(std::move(*chosen));
  return base::Ok{};
}

std::optional<analysis::TraceHeight> MetricsSampler::trace_height() {
  const std::lock_guard lock(counters_mutex_);
  if (!trace_) return std::nullopt;
  trace_->live->drain();
  const source::LiveTrace::Height height = trace_->live->height();
  return analysis::TraceHeight{trace_backend_, height.bytes, height.peak_bytes};
}

void MetricsSampler::start() {
  fast_ = std::make_unique<PeriodicThread>(
      PeriodicOptions{options_.sample_period_ns, kFastShare, true},
      [this] { static_cast<void>(read_counters()); });
  if (!options_.share_period_ns) return;
  slow_ = std::make_unique<PeriodicThread>(
      PeriodicOptions{*options_.share_period_ns, 0.2, true},
      [this] { read_shares(); });
}

base::Status MetricsSampler::read_ledger() {
  const uint64_t now = base::monotonic_ns();
  const bool is_dear =
      ledger_cost_ns_ > options_.scrape_limit_ns / kLedgerShare;
  const bool is_fresh = now - ledger_read_ns_ < kLedgerPause * ledger_cost_ns_;
  if (ledger_ && is_dear && is_fresh) return base::Ok{};
  base::Status status = system_.collect(ledger_sample_);
  if (!status) return status;
  ledger_ = analysis::make_system_report(ledger_sample_);
  ledger_read_ns_ = base::monotonic_ns();
  ledger_cost_ns_ = ledger_read_ns_ - now;
  return base::Ok{};
}

std::vector<analysis::CountedProcess> MetricsSampler::counted_processes() {
  const std::lock_guard lock(counters_mutex_);
  std::vector<analysis::CountedProcess> processes;
  for (const auto& [pid, row] : counters_.processes()) {
    if (!row.has_memory) continue;
    processes.push_back({row.id, row.name, row.cgroup_path, row.rss_bytes});
  }
  return processes;
}

MetricsSampler::Chosen MetricsSampler::choose_groups(const std::string& scraper,
                                                     uint64_t until_ns) {
  std::vector<analysis::RankedName> ranked;
  std::unordered_set<std::string> present;
  {
    const std::lock_guard lock(counters_mutex_);
    for (const auto& [path, row] : counters_.groups()) {
      if (!row.is_known) continue;
      ranked.push_back({path, row.charged_bytes});
      present.insert(path);
    }
    ranked =
        analysis::rank_groups(std::move(ranked), windows_.open_window(scraper));
  }
  Chosen chosen;
  std::vector<std::string> paths;
  for (const std::string& path :
       cgroup_roster_.choose(std::move(ranked), base::monotonic_ns())) {
    (present.contains(path) ? paths : chosen.gone).push_back(path);
  }
  std::ranges::sort(chosen.gone);
  // Shorter paths are the larger groups: should the time be over they are told.
  std::ranges::sort(paths, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  for (const std::string& path : paths) {
    chosen.was_cut_short = base::monotonic_ns() > until_ns;
    if (chosen.was_cut_short) break;
    chosen.cgroups.push_back(cgroups_.read_with_stat(path));
  }
  std::ranges::sort(chosen.cgroups, {}, &model::Cgroup::path);
  return chosen;
}

analysis::ReaderFacts MetricsSampler::reader_facts(bool was_cut_short) {
  analysis::ReaderFacts facts;
  facts.version = options_.version;
  facts.sample_period_ns =
      fast_ ? fast_->kept_period_ns() : options_.sample_period_ns;
  facts.missed_tick_count = fast_ ? fast_->missed_count() : 0;
  facts.scrape_limit_ns = options_.scrape_limit_ns;
  facts.ledger_age_ns = base::monotonic_ns() - ledger_read_ns_;
  facts.refused_name_count =
      program_roster_.refused_count() + cgroup_roster_.refused_count();
  facts.was_cut_short = was_cut_short;
  const std::lock_guard lock(counters_mutex_);
  facts.scraper_count = windows_.scraper_count();
  facts.group_total_count = counters_.groups().size();
  return facts;
}

base::Result<std::vector<model::MetricFamily>> MetricsSampler::scrape(
    const std::string& scraper) {
  const std::lock_guard lock(scrape_mutex_);
  const uint64_t begun = base::monotonic_ns();
  base::Status status = read_ledger();
  if (!status) return status.error();
  Chosen chosen = choose_groups(scraper, begun + options_.scrape_limit_ns);
  analysis::MetricWindows::Marks marks;
  for (const model::Cgroup& group : chosen.cgroups) {
    if (!group.peak_bytes) continue;
    marks.emplace(analysis::peak_key(PeakScope::Cgroup, group.path),
                  *group.peak_bytes);
  }
  analysis::MetricsInput input;
  input.machine = &*ledger_sample_.machine;
  input.system = ledger_ ? &*ledger_ : nullptr;
  input.processes = counted_processes();
  input.trace = trace_height();
  input.cgroups = std::move(chosen.cgroups);
  input.gone_cgroups = std::move(chosen.gone);
  {
    const std::lock_guard windows(counters_mutex_);
    input.peaks =
        windows_.take(scraper, base::monotonic_ns(), std::move(marks));
  }
  input.reader = reader_facts(chosen.was_cut_short);
  const std::lock_guard shares(shares_mutex_);
  input.shares = shares_ ? &*shares_ : nullptr;
  input.now_ns = base::monotonic_ns();
  std::vector<analysis::RankedName> ranked =
      analysis::rank_programs(input.processes, input.shares, input.peaks);
  input.programs = program_roster_.choose(std::move(ranked), input.now_ns);
  std::vector<model::MetricFamily> families =
      analysis::make_metrics(input, options_.limits);
  analysis::add_scrape_time(base::monotonic_ns() - begun, families);
  return families;
}

}  // namespace tidemark::watch
