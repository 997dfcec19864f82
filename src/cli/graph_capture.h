// What `graph` and `buckets` share: reading the machine as a graph.
#pragma once

#include "analysis/graph.h"
#include "base/result.h"
#include "cli/command.h"
#include "watch/graph_reader.h"

namespace tidemark::cli {

base::Result<analysis::Graph> capture_graph(const CommonOptions& common,
                                            watch::GraphOptions options);

// What of it is not as it should be, to standard error.
void print_graph_notes(const CommonOptions& common,
                       const analysis::Graph& graph);

}  // namespace tidemark::cli
