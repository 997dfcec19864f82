// Places in the kernel's code that take memory, with what each holds now: one
// line of /proc/allocinfo.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::model {

struct AllocationSite {
  std::string file;  // as it was compiled: "mm/slub.c"
  uint32_t line = 0;
  std::string module;  // empty: the kernel's image
  std::string function;
  // What is held now. The kernel sums per processor without a lock, so it can
  // be below zero for a moment.
  int64_t bytes = 0;
  uint64_t calls = 0;  // allocations that were not yet given back
  // The kernel says that it has missed some here.
  bool is_inexact = false;
  bool operator==(const AllocationSite&) const = default;

  // What migration leaves behind: it moves the count of a page and not all of
  // its bytes (4,095 for each page, seen on 6.12).
  bool is_noise() const { return calls == 0 && bytes != 0; }
  // Slabs are counted here as pages and a second time by the objects in them.
  bool is_slab_pages() const { return function == "alloc_slab_page"; }
};

// One reading of the file, its lines in their order. A place in a header has a
// line for each file that uses it.
struct AllocationReading {
  uint64_t realtime_ns = 0;
  uint64_t read_ns = 0;  // how long reading took
  std::vector<AllocationSite> sites;
  // MemTotal less MemFree, to compare with; 0: not known.
  uint64_t used_bytes = 0;
  std::vector<std::string> notes;
};

}  // namespace tidemark::model
