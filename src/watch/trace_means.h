// The means to follow page allocations, the best that works.
#pragma once

#include <cstdint>
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
  bool starts_early = false;  // by events until BPF is loaded
};

struct ChosenTrace {
  std::unique_ptr<source::LiveTrace> live;
  std::vector<std::string> notes;  // why none of the better ones
  std::optional<model::TraceBefore> before;
  std::optional<base::Result<source::SlabTracer>> slab;  // where asked for
  std::vector<std::string> slab_notes;  // what of the filter they ignore
  bool was_before_told = false;
  uint64_t next_slab_ns = 0;  // monotonic

  void go();
  // While it counts, with those notes first. What there was before is in the
  // first of them; slab objects are where reading them takes one fiftieth of
  // the time.
  base::Result<model::Trace> read(const source::Roots& roots);
  // The same of pages alone, for who wants to see how it goes.
  base::Result<model::Trace> peek(const source::Roots& roots) const;
  // Ends it; with all there is to tell.
  base::Result<model::Trace> read_last(const source::Roots& roots);
};

// By what was asked for, or by the first that works. Where none does, the
// reason why the best one does not is the one to tell.
base::Result<ChosenTrace> choose_trace(const source::Roots& roots,
                                       const TraceMeansOptions& options);

}  // namespace tidemark::watch
