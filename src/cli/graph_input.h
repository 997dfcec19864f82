// A graph that somebody has written before: the output of `graph`, or of
// memgraph, from a file or from standard input.
#pragma once

#include <string>

#include "base/result.h"
#include "model/graph_record.h"

namespace tidemark::cli {

// "-" is standard input. What does not begin as a list is refused before it is
// read to its end, and so is what is larger than any graph: an endless stream
// must not fill the memory of the machine one wants to look at.
base::Result<model::GraphRecords> read_graph_file(const std::string& path);

}  // namespace tidemark::cli
