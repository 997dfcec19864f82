#include "cli/vms_page.h"

#include <vector>

#include "analysis/memstats_sections.h"
#include "analysis/memstats_vm.h"
#include "analysis/vm_timeline.h"
#include "cli/page.h"
#include "view/json/vms.h"

namespace tidemark::cli {
namespace {

using Layout = base::JsonWriter::Layout;

std::string memstats_vms_json(const MemstatsFile& file,
                              const MemstatsReportOptions& options) {
  const std::vector<model::VmScan> scans =
      analysis::memstats_scans(file.records, file.begin_realtime_ns);
  analysis::VmTimeline timeline = analysis::make_vm_timeline(scans);
  timeline.path = options.path;
  return view::vms_json(timeline, options.layout);
}

}  // namespace

base::Result<ExitCode> write_vms_page(std::span<const model::VmScan> scans,
                                      Output& output) {
  const std::string json =
      view::vms_json(analysis::make_vm_timeline(scans), Layout::OneLine);
  const view::PageReport report = {"vms", json};
  return write_page(output, std::span(&report, 1));
}

base::Result<ExitCode> write_memstats_report(
    const MemstatsFile& file, const MemstatsReportOptions& options,
    Output& output) {
  const std::string sections = view::sections_json(
      analysis::memstats_sections(file.records), options.layout);
  const std::string vms =
      options.is_compat ? "" : memstats_vms_json(file, options);
  if (options.is_page) {
    std::vector<view::PageReport> reports = {{"sections", sections}};
    if (!options.is_compat) reports.push_back({"vms", vms});
    return write_page(output, reports);
  }
  base::Status status = output.write(options.is_compat ? sections : vms);
  if (!status) return status.error();
  return ExitCode::Done;
}

}  // namespace tidemark::cli
