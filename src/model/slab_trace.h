// Objects of the kernel's slab caches, followed for a while: which place in its
// code took them and holds them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace_frame.h"

namespace tidemark::model {

// What one place in the code took from one cache. Bytes are what the cache
// spends on each object, not what was asked for.
struct SlabSite {
  std::string cache;  // "dentry", "kmalloc-192"; "kmalloc-large": whole pages
  TraceFrame caller;
  uint64_t bytes = 0;  // taken since and held
  uint64_t peak_bytes = 0;
  uint64_t objects = 0;
  uint64_t allocation_count = 0;
  // Objects that were given back without a word, as was seen when they were
  // taken again. Where there are such, others may seem held that are not.
  uint64_t untold_count = 0;
  bool operator==(const SlabSite&) const = default;
};

struct SlabTrace {
  std::vector<SlabSite> sites;
  uint64_t bytes = 0;
  uint64_t peak_bytes = 0;
  uint64_t kernel_bytes = 0;  // what the tables for it take there
  // Every way in which the numbers can be wrong, in objects.
  uint64_t missed_events = 0;    // on top of one of our own programs
  uint64_t untracked_freed = 0;  // given back, never seen taken
  uint64_t overwritten = 0;      // taken again, never seen given back
  uint64_t table_full = 0;       // taken when no entry was left for them
  std::vector<std::string> notes;
  bool operator==(const SlabTrace&) const = default;
};

}  // namespace tidemark::model
