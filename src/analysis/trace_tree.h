// A trace as a tree, grouped as asked. At every node what it holds is what it
// holds itself and what its children hold.
//
// Peaks are another matter: the children of a node peak at different times, so
// the sum of their peaks may never have been reached. The kernel counts the
// peak of each leaf, of each task and of the machine; of what lies between only
// bounds are known, and they say so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"

namespace tidemark::analysis {

enum class TraceGroup : uint8_t {
  Task,
  Cgroup,
  Module,  // as module_use.h has it; the kernel's image when there is none
  Stack,   // frame by frame, the way into the kernel first
};

struct TraceNumbers {
  uint64_t pages = 0;
  uint64_t machine_peak_pages = 0;  // when the machine was at its peak
  uint64_t peak_pages = 0;          // at its own time; at most this
  uint64_t least_peak_pages = 0;    // and at least this
  uint64_t allocation_count = 0;
  uint64_t grown_pages = 0;  // of what only rises
  // How long the longest of them has held pages without a break; 0: not known.
  uint64_t oldest_ns = 0;
  bool is_peak_exact() const { return peak_pages == least_peak_pages; }
  bool operator==(const TraceNumbers&) const = default;
};

struct TraceNode {
  std::string name;
  // Of a frame its module, what it loads and its address, of a task its pid;
  // empty and 0 else.
  std::string module;
  std::string loads;
  uint64_t address = 0;
  int32_t pid = 0;
  TraceGroup group = TraceGroup::Stack;
  TraceNumbers total;  // with all below it
  uint64_t own_pages = 0;
  std::vector<TraceNode> children;
};

enum class TraceOrder : uint8_t {
  ByPages,
  ByPeak,
  ByMachinePeak,  // as it stood when the machine was at its peak
};

struct TraceTreeOptions {
  std::vector<TraceGroup> groups = {TraceGroup::Task, TraceGroup::Stack};
  TraceOrder order = TraceOrder::ByPages;
  // Of each level only the largest that together hold so many per cent of their
  // parent, and of those so many. 0: all.
  uint32_t throttle_percent = 0;
  size_t top = 0;
  // All entries of the first level are kept, and only what is below them is
  // cut: who reads a list of modules takes one that is not on it to hold
  // nothing.
  bool keeps_entries = false;
};

// What a task adds to the peak of everything it is part of: the kernel counts
// that of each task, which a sum over its leaves cannot give.
void add_task_peak(const model::TraceTask& task, TraceNumbers& numbers);

// What one leaf adds to everything it is part of.
void add_leaf(const model::Trace& trace, const model::TraceLeaf& leaf,
              TraceNumbers& numbers);

// A node cannot have held less at its peak than it was ever seen to hold, nor
// more than what it is part of.
void tighten_peak(uint64_t most_pages, TraceNumbers& numbers);

// Where a function begins: one whose code is entered at many places is one.
// 0: not known.
uint64_t function_address(const model::TraceFrame& frame);

// What people call the task: its command line, or its name in brackets when it
// has none.
std::string task_name(const model::TraceTask& task);

TraceNode make_trace_tree(const model::Trace& trace,
                          const TraceTreeOptions& options);

}  // namespace tidemark::analysis
