// The means to follow page allocations, the best that works.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "source/bpf/slab_tracer.h"
#include "source/live_trace.h"
#include "source/roots.h"

namespace tidemark::watch {

struct TraceMeansOptions {
  std::optional<model::TraceBackend> backend;  // empty: the best that works
  source::TraceOptions trace;
  bool follows_slab = false;
  bool tells_before = false;
};

struct ChosenTrace {
  std::unique_ptr<source::LiveTrace> live;
  std::vector<std::string> notes;  // why none of the better ones
  std::optional<model::TraceBefore> before;
  std::optional<base::Result<source::SlabTracer>> slab;  // where asked for

  void go();
  // With those notes first. While it counts, objects of slab caches are not
  // told.
  base::Result<model::Trace> read(const source::Roots& roots) const;
  // Ends it; with all there is to tell.
  base::Result<model::Trace> read_last(const source::Roots& roots);
};

// By what was asked for, or by the first that works. Where none does, the
// reason why the best one does not is the one to tell.
base::Result<ChosenTrace> choose_trace(const source::Roots& roots,
                                       const TraceMeansOptions& options);

}  // namespace tidemark::watch
