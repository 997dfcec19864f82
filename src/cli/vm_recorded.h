// `vm` on a recording: one moment of it, or all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/vm_printer.h"

namespace tidemark::cli {

struct VmRecordedOptions {
  std::string path;
  std::vector<std::string> targets;  // pids, names or uuids; empty: all
  std::string at;                    // a moment; empty: the end
  std::optional<uint64_t> count;     // of a replay: readings to show
};

// The last reading at or before the moment.
base::Status print_recorded_vms(const VmRecordedOptions& options,
                                VmPrinter& printer);

// Each reading, one after the other and without waiting in between.
base::Status replay_recorded_vms(const VmRecordedOptions& options,
                                 VmPrinter& printer);

}  // namespace tidemark::cli
