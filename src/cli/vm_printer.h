// Reports of VMs on their way out, live or recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/vm_report.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/output.h"
#include "model/process.h"
#include "model/vm.h"
#include "view/text/style.h"

namespace tidemark::cli {

struct VmPrinting {
  bool verbose = false;
  bool is_watch = false;     // a report a line, or a short table with its time
  bool is_recorded = false;  // it tells of a moment that is over
};

class VmPrinter {
 public:
  VmPrinter(const CommonOptions& common, VmPrinting printing, Output& output);

  base::Status print(model::VmScan scan);
  // Whether processes are wanted whole: memstats has no parts of them.
  bool wants_totals() const;
  // A scan from before those that are printed: what it teaches of balloons.
  void learn(model::VmScan scan);
  // An array has an end, and a page is written when all is there; a list of
  // objects has none.
  base::Status finish(bool has_failed);

 private:
  base::Result<const analysis::VmRow*> row_of_record(
      const analysis::VmReport& report);
  base::Status print_record(const analysis::VmReport& report);
  std::string rendered(const analysis::VmReport& report) const;

  const CommonOptions& common_;
  VmPrinting printing_;
  bool is_page_;
  Output& output_;
  view::TextStyle style_;
  analysis::VmHistory history_;
  std::vector<model::VmScan> scans_;         // of a page
  std::optional<uint64_t> start_ns_;         // of the first record of memstats
  std::optional<model::ProcessId> subject_;  // the VM that memstats tells of
};

}  // namespace tidemark::cli
