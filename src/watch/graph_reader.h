// Reads what a graph of the machine is made of: all processes, to the page
// where one may look, and the ledger of all RAM. Where one may not, the
// kernel's own sums and counters stand in, and the result says so.
#pragma once

#include <cstddef>
#include <functional>

#include "analysis/graph.h"
#include "base/result.h"
#include "source/roots.h"

namespace tidemark::watch {

struct GraphOptions {
  bool objects = false;  // the mappings of every process
  bool threads = false;
  bool descriptors = false;
  // Processes done, of how many.
  std::function<void(size_t, size_t)> progress;
};

base::Result<analysis::GraphInput> read_graph(const source::Roots& roots,
                                              const GraphOptions& options);

}  // namespace tidemark::watch
