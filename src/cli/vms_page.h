// VMs over time as a page or as JSON, wherever they come from.
#pragma once

#include <span>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/memstats_input.h"
#include "cli/output.h"
#include "model/vm.h"

namespace tidemark::cli {

// What was scanned, as one page to look at.
base::Result<ExitCode> write_vms_page(std::span<const model::VmScan> scans,
                                      Output& output);

struct MemstatsReportOptions {
  std::string path;
  bool is_page = true;
  bool is_compat = false;  // what memstats_chart draws, and nothing else
  base::JsonWriter::Layout layout = base::JsonWriter::Layout::OneLine;
};

base::Result<ExitCode> write_memstats_report(
    const MemstatsFile& file, const MemstatsReportOptions& options,
    Output& output);

}  // namespace tidemark::cli
