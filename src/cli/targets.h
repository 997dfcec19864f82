// Processes as users name them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/process.h"
#include "source/roots.h"

namespace tidemark::cli {

// Misused when there are none; each name resolved, each process once. A kernel
// thread is refused: it has no memory of its own to show.
base::Result<std::vector<model::ProcessId>> find_targets(
    const source::Roots& roots, const std::vector<std::string>& names);

}  // namespace tidemark::cli
