// Follows objects of slab caches, counted in the kernel (bpf/slab.bpf.c). Slab
// allocations are several times as many as those of pages, so it is for those
// who ask for it.
#pragma once

#include <memory>

#include "base/result.h"
#include "model/slab_trace.h"
#include "source/live_trace.h"
#include "source/roots.h"

namespace tidemark::source {

class SlabTracer {
 public:
  // Of the filter only the tree of processes and the name count; a note says
  // so. Denied without the rights, Unsupported where the kernel or this build
  // lacks what it takes.
  static base::Result<SlabTracer> prepare(const TraceFilter& filter);
  SlabTracer(SlabTracer&&) noexcept;
  SlabTracer& operator=(SlabTracer&&) noexcept;
  SlabTracer(const SlabTracer&) = delete;
  SlabTracer& operator=(const SlabTracer&) = delete;
  ~SlabTracer();

  void go();
  // Nothing is counted from here on.
  void freeze();
  model::SlabTrace read(const Roots& roots) const;

 private:
  struct State;
  explicit SlabTracer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::source
