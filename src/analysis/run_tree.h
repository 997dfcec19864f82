// Draws who held what: the processes of the picture below those that started
// them. Siblings of one name without children of their own share a line.
#pragma once

#include <vector>

#include "analysis/run_report.h"

namespace tidemark::analysis {

// Processes the picture does not show are passed over: their children stand
// below the nearest ancestor it does show.
std::vector<RunTreeRow> draw_tree(const std::vector<RunProcess>& processes);

}  // namespace tidemark::analysis
