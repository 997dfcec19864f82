// What each module of the kernel has: its own image, what it took while it was
// loaded and since, and what there was before the trace, each apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace_tree.h"
#include "model/reading.h"
#include "model/trace.h"

namespace tidemark::analysis {

struct ModuleRow {
  std::string name;
  bool was_there = false;     // when the trace began
  bool was_loaded = false;    // since
  bool was_unloaded = false;  // since
  // Its code and data. Seldom among the pages: most kernels take them in a way
  // that tells nobody.
  model::Reading<uint64_t> image_bytes;

  // What was traced: these four are all its pages.
  uint64_t loading_pages = 0;
  uint64_t later_pages = 0;
  uint64_t cache_pages = 0;
  uint64_t slab_pages = 0;
  TraceNumbers total;

  // Before the trace: what its lines of code held (allocinfo), and vmalloc
  // areas that its code made.
  model::Reading<int64_t> before_code_bytes;
  model::Reading<uint64_t> before_vmalloc_bytes;
  // All pages that stacks with its code held, where page_owner notes them.
  model::Reading<uint64_t> before_pages;
};

// Something from before the trace with its size.
struct BeforeRow {
  std::string name;
  uint64_t bytes = 0;
  bool operator==(const BeforeRow&) const = default;
};

struct ModuleTable {
  std::vector<ModuleRow> rows;                  // the largest first
  TraceNumbers kernel;                          // traced, of no module
  model::Reading<uint64_t> before_image_bytes;  // of all modules
  // The largest first, each cut to as many as there may be rows.
  model::Reading<std::vector<BeforeRow>> before_slab;     // by cache
  model::Reading<std::vector<BeforeRow>> before_vmalloc;  // by caller
  model::Reading<std::vector<BeforeRow>> before_code;     // by line
  model::Reading<std::vector<BeforeRow>> before_pages;    // by module
};

// The pages of a trace by module, as all reports part them.
std::vector<model::ModulePages> pages_by_module(const model::Trace& trace);

// At most `top` rows of each kind; 0: all.
ModuleTable make_module_table(const model::Trace& trace, TraceOrder order,
                              size_t top);

}  // namespace tidemark::analysis
