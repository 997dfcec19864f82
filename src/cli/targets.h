// Processes as users name them.
#pragma once

#include <string>
#include <vector>

#include "analysis/ps_report.h"
#include "base/result.h"
#include "model/process.h"
#include "source/roots.h"

namespace tidemark::cli {

// Misused when there are none; each name resolved, each process once. A kernel
// thread is refused: it has no memory of its own to show.
base::Result<std::vector<model::ProcessId>> find_targets(
    const source::Roots& roots, const std::vector<std::string>& names);

// Login names; empty for a tree of another machine.
std::vector<analysis::UserLabel> user_labels(const source::Roots& roots);

}  // namespace tidemark::cli
