// A graph as the JSON of Fuchsia's memgraph: an array of records for RAM, jobs,
// processes and threads, one a line, each with id, type, parent and name. What
// that schema has is there with its meaning; what it lacks is added under other
// names. All text is escaped.
#pragma once

#include <string>

#include "analysis/graph.h"

namespace tidemark::view {

std::string graph_json(const analysis::Graph& graph);

}  // namespace tidemark::view
