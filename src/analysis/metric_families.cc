#include "analysis/metric_families.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "analysis/cgroup_name.h"
#include "base/clock.h"
#include "base/escape.h"

namespace tidemark::analysis {
namespace {

using model::MetricLabel;
using model::MetricType;

double seconds(uint64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(base::kNsPerSecond);
}

double number(uint64_t count) {
  return static_cast<double>(count);
}

void add_known(FamilyWriter& family, const std::vector<MetricLabel>& labels,
               std::string_view measure, std::optional<uint64_t> bytes) {
  if (bytes) family.add(labels, measure, *bytes);
}

void add_single(Families& families, const FamilyName& name, double value) {
  FamilyWriter(families, name).add({}, value);
}

void add_ledger(const MetricsInput& input, Families& families) {
  if (input.system == nullptr) return;
  const SystemReport& report = *input.system;
  FamilyWriter ledger(
      families,
      {"tidemark_ledger_bytes", "bytes",
       "All RAM by class; the classes sum to tidemark_ram_bytes. other is what "
       "no class names and may be negative."});
  FamilyWriter unknown(families, {"tidemark_unknown", "",
                                  "What could not be read, and why; a class "
                                  "that is here has no sample."});
  for (size_t i = 0; i < kSystemColumnCount; ++i) {
    const auto column = static_cast<SystemColumn>(i);
    const std::string name(system_column_name(column).token);
    const model::Reading<int64_t>& bytes = report.at(column).bytes;
    if (bytes) {
      ledger.add({{"class", name}}, static_cast<double>(*bytes));
    } else {
      unknown.add({{"scope", "ledger"},
                   {"name", name},
                   {"because", base::valid_utf8(bytes.unknown_because)}},
                  1);
    }
  }
  ledger.add({{"class", "other"}}, static_cast<double>(report.other_bytes));
  if (input.shares != nullptr && !input.shares->vms_unknown_because.empty()) {
    unknown.add(
        {{"scope", "vm"},
         {"name", "all"},
         {"because", base::valid_utf8(input.shares->vms_unknown_because)}},
        1);
  }
  add_single(families,
             {"tidemark_ram_bytes", "bytes",
              "All RAM there is, what was taken at boot included; MemTotal "
              "where the physical map is hidden."},
             number(report.total_bytes));
}

void add_meminfo(const MetricsInput& input, Families& families) {
  const model::MemInfo& info = input.machine->meminfo;
  FamilyWriter bytes(families, {"tidemark_machine_bytes", "bytes",
                                "The machine's memory; used is total - free."});
  add_known(bytes, {}, "total", info.total_bytes);
  add_known(bytes, {}, "available", info.available_bytes);
  add_known(bytes, {}, "swap_total", info.swap_total_bytes);
  if (info.swap_total_bytes && info.swap_free_bytes) {
    bytes.add({}, "swap_used",
              *info.swap_total_bytes -
                  std::min(*info.swap_free_bytes, *info.swap_total_bytes));
  }
  if (!info.total_bytes || !info.free_bytes) return;
  const uint64_t used = *info.total_bytes - *info.free_bytes;
  bytes.add({}, "used", used);
  FamilyWriter peaks(families,
                     {"tidemark_machine_peak_bytes", "bytes",
                      "Highest use since this scraper's last scrape."});
  const uint64_t* peak = input.peaks.find(PeakScope::Machine, "used");
  peaks.add({}, "used", std::max(used, peak == nullptr ? 0 : *peak));
  if (!info.available_bytes) return;
  const uint64_t unavailable =
      *info.total_bytes - std::min(*info.total_bytes, *info.available_bytes);
  const uint64_t* tight = input.peaks.find(PeakScope::Machine, "unavailable");
  peaks.add({}, "unavailable",
            std::max(unavailable, tight == nullptr ? 0 : *tight));
}

void add_events(const MetricsInput& input, Families& families) {
  const model::VmStat& stat = input.machine->vmstat;
  const std::pair<const char*, std::optional<uint64_t>> events[] = {
      {"fault", stat.fault_count},
      {"major_fault", stat.major_fault_count},
      {"swapped_in_page", stat.swapped_in_pages},
      {"swapped_out_page", stat.swapped_out_pages},
      {"scanned_page", stat.scanned_pages},
      {"reclaimed_page", stat.reclaimed_pages},
      {"allocation_stall", stat.stall_count},
      {"refault_anon_page", stat.refault_anon_pages},
      {"refault_file_page", stat.refault_file_pages},
      {"oom_kill", stat.oom_kill_count},
  };
  FamilyWriter counts(families, {"tidemark_machine_events_total", "",
                                 "Events of memory management since boot.",
                                 MetricType::Counter});
  for (const auto& [name, count] : events) {
    if (count) counts.add({{"event", name}}, number(*count));
  }
  const model::Pressure& pressure = input.machine->pressure;
  FamilyWriter waits(families,
                     {"tidemark_machine_pressure_seconds_total", "seconds",
                      "Time that some or all tasks have waited for memory.",
                      MetricType::Counter});
  if (pressure.some_ns) {
    waits.add({{"tasks", "some"}}, seconds(*pressure.some_ns));
  }
  if (pressure.full_ns) {
    waits.add({{"tasks", "full"}}, seconds(*pressure.full_ns));
  }
}

void add_trace(const MetricsInput& input, Families& families) {
  if (!input.trace) return;
  FamilyWriter bytes(families,
                     {"tidemark_trace_bytes", "bytes",
                      "Pages that the kernel gave out since the trace began "
                      "and that were not given back, now and at most."});
  const std::vector<MetricLabel> labels = {{"backend", input.trace->backend}};
  bytes.add(labels, "held", input.trace->bytes);
  bytes.add(labels, "highest", input.trace->peak_bytes);
}

// "/a/b" is in "/a" and in "/".
bool lies_in_group(std::string_view path, std::string_view group) {
  if (group == "/") return !path.empty();
  return path.starts_with(group) &&
         (path.size() == group.size() || path[group.size()] == '/');
}

Use shares_of_group(const ShareReading& shares, const std::string& path,
                    bool& has_any) {
  Use sum;
  for (const SharedProcess& process : shares.processes) {
    if (!lies_in_group(process.cgroup_path, path)) continue;
    has_any = true;
    sum.add(process.use);
  }
  return sum;
}

std::vector<MetricLabel> group_labels(const std::string& path) {
  std::vector<MetricLabel> labels = {
      {"cgroup", base::valid_utf8(path)},
      {"unit", base::valid_utf8(cgroup_name(path))}};
  const std::string container = container_name(path);
  if (!container.empty()) {
    labels.push_back({"container", base::valid_utf8(container)});
  }
  return labels;
}

void add_vm(const VmRow& row, const std::string& name, FamilyWriter& bytes) {
  const std::vector<MetricLabel> labels = {
      {"vm", base::valid_utf8(name)},
      {"kind", std::string(model::vm_kind_token(row.vm.kind))}};
  add_known(bytes, labels, "cost", row.cost.known_bytes());
  add_known(bytes, labels, "configured", row.vm.ram.configured_bytes.value);
  add_known(bytes, labels, "resident", row.vm.ram.resident_bytes.value);
  add_known(bytes, labels, "swapped", row.vm.ram.swapped_bytes.value);
  add_known(bytes, labels, "overhead", row.overhead_bytes.value);
  add_known(bytes, labels, "balloon", row.vm.guest.balloon_bytes);
  if (!row.ram_bands) return;
  bytes.add(labels, "guest_used", row.ram_bands->used_bytes);
  bytes.add(labels, "guest_caches", row.ram_bands->caches_bytes);
  bytes.add(labels, "guest_held", row.ram_bands->held_bytes);
}

}  // namespace

FamilyWriter::FamilyWriter(Families& families, const FamilyName& name)
    : families_(families), index_(families.size()) {
  families_.push_back(
      {std::string(name.name), name.type, name.unit, name.help, {}});
}

void FamilyWriter::add(std::vector<MetricLabel> labels, double value) {
  families_[index_].samples.push_back({std::move(labels), value});
}

void FamilyWriter::add(const std::vector<MetricLabel>& labels,
                       std::string_view measure, uint64_t bytes) {
  std::vector<MetricLabel> all = labels;
  all.push_back({"measure", std::string(measure)});
  add(std::move(all), number(bytes));
}

void add_reader(const MetricsInput& input, Families& families) {
  const ReaderFacts& reader = input.reader;
  FamilyWriter(families, {"tidemark_build_info", "", "Of this tidemark."})
      .add({{"version", reader.version}}, 1);
  add_single(families,
             {"tidemark_sample_period_seconds", "seconds",
              "Time between two readings of the counters that peaks are made "
              "of."},
             seconds(reader.sample_period_ns));
  add_single(families,
             {"tidemark_missed_samples_total", "",
              "Readings whose time had passed.", MetricType::Counter},
             number(reader.missed_tick_count));
  add_single(families,
             {"tidemark_peak_window_seconds", "seconds",
              "Time since this scraper's last scrape, that peaks are of."},
             seconds(input.peaks.length_ns));
  add_single(families,
             {"tidemark_peaks_forgotten", "",
              "Things of this window that there was no room for."},
             number(input.peaks.forgotten_count));
  add_single(families,
             {"tidemark_scrapers", "", "Scrapers that have a window."},
             number(reader.scraper_count));
  add_single(families,
             {"tidemark_scrape_limit_seconds", "seconds",
              "Time after which a scrape leaves out what is not read yet."},
             seconds(reader.scrape_limit_ns));
  add_single(families,
             {"tidemark_scrape_was_cut", "",
              "1 when that time was over in this scrape."},
             reader.was_cut_short ? 1 : 0);
  add_single(families,
             {"tidemark_ledger_age_seconds", "seconds", "Of the ledger."},
             seconds(reader.ledger_age_ns));
  add_single(
      families,
      {"tidemark_refused_names_total", "",
       "Names without series because too many were new.", MetricType::Counter},
      number(reader.refused_name_count));
  add_single(families,
             {"tidemark_cgroups", "", "Groups there are, with a row or not."},
             number(reader.group_total_count));
  if (input.shares == nullptr) return;
  const ShareReading& shares = *input.shares;
  add_single(families,
             {"tidemark_shares_age_seconds", "seconds",
              "Of pss, uss, swap_pss, footprint and of all VMs."},
             seconds(input.now_ns - std::min(input.now_ns, shares.ended_ns)));
  add_single(
      families,
      {"tidemark_shares_read_seconds", "seconds", "What reading them took."},
      seconds(shares.took_ns));
  FamilyWriter unread(families, {"tidemark_unread_processes", "",
                                 "Processes whose shares are unknown."});
  unread.add({{"because", "denied"}}, number(shares.denied_count));
  unread.add({{"because", "stall"}}, number(shares.spared_count));
}

void add_machine(const MetricsInput& input, Families& families) {
  add_ledger(input, families);
  add_trace(input, families);
  if (input.machine == nullptr) return;
  add_meminfo(input, families);
  add_events(input, families);
}

void add_cgroups(const MetricsInput& input, Families& families) {
  FamilyWriter bytes(
      families,
      {"tidemark_cgroup_bytes", "bytes",
       "What the kernel charges a group and those below it for, and pss of "
       "their processes; a group without a row is in that of its parent. "
       "highest is the kernel's own mark, since the group began."});
  FamilyWriter peaks(families,
                     {"tidemark_cgroup_peak_bytes", "bytes",
                      "Highest charge since this scraper's last scrape."});
  for (const model::Cgroup& group : input.cgroups) {
    const std::vector<MetricLabel> labels = group_labels(group.path);
    add_known(bytes, labels, "charged", group.charged_bytes.value);
    add_known(bytes, labels, "highest", group.peak_bytes.value);
    add_known(bytes, labels, "limit", group.limit_bytes);
    add_known(bytes, labels, "anon", group.stat.anon_bytes);
    add_known(bytes, labels, "file", group.stat.file_bytes);
    add_known(bytes, labels, "shmem", group.stat.shmem_bytes);
    add_known(bytes, labels, "swap", group.stat.swap_bytes);
    add_known(bytes, labels, "kernel", group.stat.kernel_bytes);
    if (input.shares != nullptr) {
      bool has_any = false;
      const Use use = shares_of_group(*input.shares, group.path, has_any);
      if (has_any) add_known(bytes, labels, "pss", use.pss.known_bytes());
    }
    const uint64_t* peak = input.peaks.find(PeakScope::Cgroup, group.path);
    if (!group.charged_bytes && peak == nullptr) continue;
    peaks.add(labels, "charged",
              std::max(group.charged_bytes.value.value_or(0),
                       peak == nullptr ? 0 : *peak));
  }
  for (const std::string& path : input.gone_cgroups) {
    const uint64_t* peak = input.peaks.find(PeakScope::Cgroup, path);
    if (peak != nullptr) peaks.add(group_labels(path), "charged", *peak);
  }
}

void add_vms(const MetricsInput& input, size_t limit, Families& families) {
  if (input.shares == nullptr || !input.shares->vms) return;
  const std::vector<VmRow>& rows = input.shares->vms->rows;
  FamilyWriter bytes(families,
                     {"tidemark_vm_bytes", "bytes",
                      "What a VM costs this host, and what its guest does with "
                      "that; as old as tidemark_shares_age_seconds."});
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(limit, rows.size()); ++i) {
    // Two series with the same labels would spoil the whole scrape.
    std::string name = rows[i].vm.name;
    if (std::ranges::find(names, name) != names.end()) {
      name += " " + std::to_string(rows[i].vm.id.pid);
    }
    names.push_back(name);
    add_vm(rows[i], name, bytes);
  }
}

}  // namespace tidemark::analysis
