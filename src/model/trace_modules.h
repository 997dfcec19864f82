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

// Pages that the code of one module holds, as page_owner notes them.
struct ModulePages {
  std::string module;  // empty: the kernel's image
  uint64_t pages = 0;
  bool operator==(const ModulePages&) const = default;
};

// What there was when the trace began. No part of what was traced.
struct TraceBefore {
  Reading<std::vector<KernelModule>> modules;
  Reading<VmallocInfo> vmalloc;
  Reading<std::vector<SlabCache>> slab;
  // By line of code, where the kernel keeps account of it.
  Reading<std::vector<AllocationSite>> code;
  // By module, where it notes who took each page.
  Reading<std::vector<ModulePages>> pages;
  bool operator==(const TraceBefore&) const = default;
};

// None of it is known, for one reason.
inline TraceBefore unknown_before(const std::string& because) {
  return {unknown<std::vector<KernelModule>>(because),
          unknown<VmallocInfo>(because),
          unknown<std::vector<SlabCache>>(because),
          unknown<std::vector<AllocationSite>>(because),
          unknown<std::vector<ModulePages>>(because)};
}

}  // namespace tidemark::model
