// `trace` where nothing is traced: from what the kernel itself notes of its
// pages (page_owner) and of its code (allocinfo).
#pragma once

#include <optional>
#include <string>

#include "analysis/allocinfo_report.h"
#include "analysis/page_owner_report.h"
#include "base/result.h"
#include "cli/command.h"
#include "model/trace.h"
#include "source/roots.h"

namespace tidemark::cli {

struct TraceNotesOptions {
  std::string page_owner_file;  // empty: the running kernel's
  model::PageOwnerSelection selection;
  std::string group_by;  // as page_owner_sort says it, or line, module
  std::string sort_by;
  std::optional<uint64_t> top;
  std::optional<uint64_t> duration_ns;  // between two readings
  CommonOptions common;
};

// The notes on pages as a trace, for the reports that traces have.
base::Result<model::Trace> read_page_owner_trace(
    const source::Roots& roots, const TraceNotesOptions& options);

// The same in groups, as page_owner_sort makes them.
base::Result<ExitCode> run_page_owner_groups(const source::Roots& roots,
                                             const TraceNotesOptions& options);

// Lines of the kernel's code by what they hold, or by what they grew in a given
// time.
base::Result<ExitCode> run_allocinfo(const source::Roots& roots,
                                     const TraceNotesOptions& options);

}  // namespace tidemark::cli
