#include "analysis/get_report.h"

#include <algorithm>

#include "analysis/process_tree.h"

namespace tidemark::analysis {
namespace {

using model::Process;

GetProcess describe(const Process& process, const Use& use,
                    const std::vector<model::DeviceNumber>& devices) {
  GetProcess row;
  row.id = process.id;
  row.parent_pid = process.stat.parent_pid;
  row.name = display_name(process);
  row.comm = process.stat.comm;
  row.command = command_text(process);
  row.state = process.state;
  row.use = use;
  // The kernel's mark is made of counters that lag behind the page tables: what
  // smaps has just counted was reached in any case.
  if (process.status.peak_rss_bytes) {
    row.peak_rss_bytes =
        std::max(*process.status.peak_rss_bytes, row.use.rss.bytes);
  }
  row.unknown = unknowns_of(process, row.use);
  if (process.mappings) {
    row.categories = categories_of(
        *process.mappings,
        model::find_regions(*process.mappings,
                            model::region_hints(process, devices)));
  }
  return row;
}

// The kernel gives no proportional figure for hugetlb, so pages that several
// of these processes map count once for each.
void note_shared_hugetlb(const model::Sample& sample, GetReport& report) {
  size_t sharers = 0;
  for (const Process& process : sample.processes) {
    if (process.rollup &&
        process.rollup->get_or_zero(model::SmapsField::SharedHugetlb) > 0) {
      ++sharers;
    }
  }
  if (sharers > 1) {
    report.notes.push_back(std::to_string(sharers) +
                           " processes share huge pages; the kernel does not "
                           "divide them, so the sum counts them repeatedly");
  }
}

void note_exactness(const model::Sample& sample, GetReport& report) {
  if (!sample.sharing) return;
  report.is_exact = true;
  const auto unknown =
      static_cast<size_t>(std::ranges::count(sample.sharing->is_unknown, true));
  if (unknown > 0) {
    report.notes.push_back("the pages of " + std::to_string(unknown) +
                           " processes could not be told; theirs are as smaps "
                           "says");
  }
}

}  // namespace

int64_t GetReport::not_explained_bytes() const {
  auto rest = static_cast<int64_t>(total.in_ram().bytes);
  for (const CategoryUse& use : categories) {
    rest -= static_cast<int64_t>(use.pss_bytes);
  }
  return rest;
}

std::string GetReport::unknown_because() const {
  for (const GetProcess& process : processes) {
    if (!process.use.pss.has_unknown || process.unknown.empty()) continue;
    return "PSS of process " + std::to_string(process.id.pid) +
           " is unknown: " + process.unknown[0].second;
  }
  return {};
}

GetReport make_get_report(
    const model::Sample& sample,
    const std::vector<model::DeviceNumber>& memory_devices) {
  GetReport report;
  report.is_new_high = sample.is_new_high;
  report.realtime_ns = sample.started_realtime_ns;
  report.read_ns = sample.ended_monotonic_ns - sample.started_monotonic_ns;
  KernelCosts costs;
  if (sample.machine) costs.page_size_bytes = sample.machine->page_size_bytes;
  const std::vector<Use> uses = uses_of(sample, costs);
  std::vector<size_t> members;
  for (const TreeEntry& entry : process_tree(sample.processes)) {
    GetProcess row = describe(sample.processes[entry.index], uses[entry.index],
                              memory_devices);
    row.depth = entry.depth;
    members.push_back(entry.index);
    if (row.state == model::ProcessState::Denied) {
      report.denied_hint = denied_hint(sample);
    }
    add_categories(report.categories, row.categories);
    report.processes.push_back(std::move(row));
  }
  report.total = sum_of(sample, uses, members);
  note_shared_hugetlb(sample, report);
  note_exactness(sample, report);
  return report;
}

}  // namespace tidemark::analysis
