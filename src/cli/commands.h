// One maker per command; each is in the file of its name.
#pragma once

#include "cli/command.h"

namespace tidemark::cli {

Command run_command();
Command get_command();
Command ps_command();
Command maps_command();
Command system_command();
Command top_command();
Command kmap_command();
Command objects_command();
Command trace_command();
// As trace, called by that name.
Command memstrack_command();
Command record_command();
Command peak_command();
Command replay_command();
Command info_command();
Command diff_command();
Command report_command();
Command serve_command();
Command metrics_command();
Command import_command();
Command export_command();
Command ledger_command();
Command graph_command();
Command treemap_command();
Command buckets_command();
Command vm_command();
Command gate_command();
Command doctor_command();
Command completion_command();
Command manual_command();

}  // namespace tidemark::cli
