// Modules of the kernel as a trace knows them, and the memory that was there
// before it began.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/allocation_site.h"
#include "model/kernel_memory.h"
#include "model/reading.h"

namespace tidemark::model {

// A module as the kernel told of it: one that came or went while it was traced,
// or that was there all the time.
struct TraceModule {
  std::string name;
  uint64_t image_bytes =
      0;  // its code and data, without what only loading uses
  bool was_loaded = false;
  bool was_unloaded = false;
  bool operator==(const TraceModule&) const = default;
};

// What there was when the trace began. No part of what was traced.
struct TraceBefore {
  Reading<std::vector<KernelModule>> modules;
  Reading<VmallocInfo> vmalloc;
  Reading<std::vector<SlabCache>> slab;
  // By line of code, where the kernel keeps account of it.
  Reading<std::vector<AllocationSite>> code;
};

}  // namespace tidemark::model
