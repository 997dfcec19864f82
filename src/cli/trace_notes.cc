#include "cli/trace_notes.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "cli/output.h"
#include "source/allocinfo_source.h"
#include "source/kernel_files.h"
#include "source/page_owner_source.h"
#include "view/csv/allocinfo.h"
#include "view/csv/page_owner.h"
#include "view/json/allocinfo.h"
#include "view/json/page_owner.h"
#include "view/text/allocinfo.h"
#include "view/text/page_owner.h"
#include "watch/stop_signals.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

base::Result<analysis::PageOwnerReportOptions> group_options(
    const TraceNotesOptions& options) {
  analysis::PageOwnerReportOptions groups;
  base::Result<analysis::PageOwnerGrouping> by =
      analysis::parse_page_owner_grouping(options.group_by);
  if (!by) return by.error();
  groups.group_by = *by;
  if (!options.sort_by.empty()) {
    base::Result<std::vector<analysis::PageOwnerOrder>> order =
        analysis::parse_page_owner_order(options.sort_by);
    if (!order) return order.error();
    groups.sort_by = std::move(*order);
  }
  groups.selection = options.selection;
  groups.top = options.top;
  groups.page_size_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return groups;
}

base::Result<analysis::AllocinfoOptions> allocinfo_options(
    const TraceNotesOptions& options) {
  using analysis::AllocinfoGrouping;
  using analysis::AllocinfoSort;
  analysis::AllocinfoOptions result;
  result.top = options.top;
  if (options.group_by == "module") {
    result.group_by = AllocinfoGrouping::Module;
  } else if (!options.group_by.empty() && options.group_by != "line") {
    return base::fail(ErrorKind::Misused,
                      "allocinfo is grouped by line or by module",
                      "--group module");
  }
  // Who waits wants to know what grew meanwhile.
  if (options.duration_ns) result.sort_by = AllocinfoSort::Growth;
  const std::pair<std::string_view, AllocinfoSort> known[] = {
      {"size", AllocinfoSort::Size},
      {"growth", AllocinfoSort::Growth},
      {"calls", AllocinfoSort::Calls}};
  if (options.sort_by.empty()) return result;
  const auto* found =
      std::ranges::find(known, options.sort_by,
                        &std::pair<std::string_view, AllocinfoSort>::first);
  if (found == std::end(known)) {
    return base::fail(ErrorKind::Misused,
                      "allocinfo is sorted by size, growth or calls",
                      "--sort growth --duration 10s");
  }
  result.sort_by = found->second;
  return result;
}

// False when a signal came before the time was over.
base::Result<bool> wait(uint64_t duration_ns) {
  base::Result<watch::StopSignals> signals = watch::StopSignals::block();
  if (!signals) return signals.error();
  return signals->wait_until(base::monotonic_ns() + duration_ns) !=
         watch::WaitEnd::Stop;
}

std::vector<model::TraceModule> modules_of(
    const model::Reading<std::vector<model::KernelModule>>& known) {
  std::vector<model::TraceModule> modules;
  if (!known) return modules;
  modules.reserve(known->size());
  for (const model::KernelModule& module : *known)
    modules.push_back({module.name, module.size_bytes, false, false});
  return modules;
}

}  // namespace

base::Result<model::Trace> read_page_owner_trace(
    const source::Roots& roots, const TraceNotesOptions& options) {
  base::Result<source::PageOwnerTrace> read = source::read_page_owner(
      roots, {options.page_owner_file, options.selection});
  // It may be a copy of the sums by stack, which tell of no task to select.
  if (!read && read.error().kind == base::ErrorKind::Malformed &&
      options.selection == model::PageOwnerSelection()) {
    base::Result<source::PageOwnerTrace> sums =
        source::read_page_owner_stacks(roots, options.page_owner_file);
    if (sums) read = std::move(sums);
  }
  if (!read) return read.error();
  // A dump tells of another machine, or of another time.
  if (options.page_owner_file.empty()) {
    read->trace.modules = modules_of(source::read_modules(roots));
  }
  return std::move(read->trace);
}

base::Result<ExitCode> run_page_owner_groups(const source::Roots& roots,
                                             const TraceNotesOptions& options) {
  base::Result<analysis::PageOwnerReportOptions> grouping =
      group_options(options);
  if (!grouping) return grouping.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  analysis::PageOwnerGroups groups(*grouping);
  const uint64_t started_ns = base::monotonic_ns();
  base::Result<parse::PageOwnerFaults> faults = source::read_page_owner_records(
      roots, options.page_owner_file,
      [&](const model::PageOwnerRecord& record) { groups.add(record); });
  if (!faults) return faults.error();
  groups.add_faults(faults->broken_records, faults->stray_lines);
  analysis::PageOwnerReport report = groups.finish();
  report.realtime_ns = base::realtime_ns();
  report.read_ns = base::monotonic_ns() - started_ns;
  if (options.common.format == Format::Csv) {
    base::Status status = output->write(view::page_owner_csv(report));
    if (!status) return status.error();
    return ExitCode::Done;
  }
  return write_report(
      *output, options.common,
      [&](const view::TextStyle& style) {
        return view::page_owner_text(report, style);
      },
      [&](base::JsonWriter::Layout layout) {
        return view::page_owner_json(report, layout);
      });
}

base::Result<ExitCode> run_allocinfo(const source::Roots& roots,
                                     const TraceNotesOptions& options) {
  base::Result<analysis::AllocinfoOptions> ranking = allocinfo_options(options);
  if (!ranking) return ranking.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  std::optional<model::AllocationReading> before;
  if (options.duration_ns) {
    base::Result<model::AllocationReading> first =
        source::read_allocinfo(roots);
    if (!first) return first.error();
    before = std::move(*first);
    base::Result<bool> waited = wait(*options.duration_ns);
    if (!waited) return waited.error();
  }
  base::Result<model::AllocationReading> now = source::read_allocinfo(roots);
  if (!now) return now.error();
  const analysis::AllocinfoReport report = analysis::make_allocinfo_report(
      *now, before ? &*before : nullptr, *ranking);
  if (options.common.format == Format::Csv) {
    base::Status status = output->write(view::allocinfo_csv_head() +
                                        view::allocinfo_csv_rows(report));
    if (!status) return status.error();
    return ExitCode::Done;
  }
  return write_report(
      *output, options.common,
      [&](const view::TextStyle& style) {
        return view::allocinfo_text(report, style);
      },
      [&](base::JsonWriter::Layout layout) {
        return view::allocinfo_json(report, layout);
      });
}

}  // namespace tidemark::cli
