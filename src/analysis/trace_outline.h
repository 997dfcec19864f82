// A trace level by level, for who opens one node after the other.
//
// A tree of all levels of 20,000 stacks takes longer to make than a person
// waits for a key. Here only the order of the leaves is made beforehand: by
// group, then by the way through the code. So whatever is below a node lies
// side by side, and its children are found by passing over that once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/module_use.h"
#include "analysis/trace_history.h"
#include "analysis/trace_tree.h"
#include "model/trace.h"

namespace tidemark::analysis {

struct OutlineNode {
  TraceGroup group = TraceGroup::Stack;
  std::string name;    // as TraceNode has it
  std::string module;  // of a frame
  uint64_t address = 0;
  int32_t pid = 0;  // of a task
  // The same in every reading of one trace.
  std::string key;
  uint32_t begin = 0;  // places in the order of leaves
  uint32_t end = 0;
  uint32_t depth = 0;  // frames on the way to its children
  TraceNumbers total;
  uint64_t before_pages = 0;  // in the reading before
  bool has_children = false;
};

// What outlines of one reading share, however they group.
struct TraceIndex {
  std::vector<uint32_t> functions;  // of each frame; the same of one function
  std::vector<StackModule> owners;  // of each stack
  // Of each stack: its place in the order of all, by the way through the code.
  std::vector<uint32_t> ranks;
};
TraceIndex make_trace_index(const model::Trace& trace);

class TraceOutline {
 public:
  TraceOutline() = default;
  // By tasks, control groups or modules, and below them by stacks. Below a
  // module stacks begin with its own code: the way there is outer_frames().
  TraceOutline(std::shared_ptr<const model::Trace> trace,
               std::shared_ptr<const TraceHistory> history,
               std::shared_ptr<const TraceIndex> index, TraceGroup by);

  // Of these tasks alone, by their index in the trace.
  TraceOutline of_tasks(const std::vector<bool>& is_meant) const;

  TraceGroup by() const { return by_; }
  const std::vector<OutlineNode>& groups() const { return groups_; }
  std::vector<OutlineNode> children(const OutlineNode& node) const;
  // Leaves below a node, as indices into the trace.
  std::vector<uint32_t> leaves(const OutlineNode& node) const;
  // Pages over the times of the history. Of leaves that are there now: what
  // the tables no longer have is not in it.
  std::vector<uint64_t> series(const OutlineNode& node) const;
  // Frames that a stack has outside of those shown, the nearest first.
  std::vector<uint32_t> outer_frames(uint32_t stack) const;

 private:
  struct Grouping;

  void order_leaves(const Grouping& grouping);
  void sum(OutlineNode& node) const;
  bool goes_on(const OutlineNode& node) const;
  void add_past(uint32_t place, uint64_t* sums) const;
  void sum_blocks();
  size_t shown_frames(uint32_t stack) const;
  uint32_t frame_at(uint32_t stack, size_t depth) const;
  OutlineNode node_of_frame(const OutlineNode& parent, uint32_t leaf) const;

  // Shared by the outlines of one reading, and by snapshots that are drawn.
  std::shared_ptr<const model::Trace> trace_;
  std::shared_ptr<const TraceHistory> history_;
  std::shared_ptr<const TraceIndex> index_;
  TraceGroup by_ = TraceGroup::Task;
  std::vector<uint32_t> skipped_;  // of each stack: outer frames not shown
  std::vector<uint32_t> order_;    // of leaves
  std::vector<OutlineNode> groups_;
  // What so many leaves in order held at each time of the history, so that the
  // past of a hundred thousand is not summed up for each row that is drawn.
  static constexpr uint32_t kBlock = 256;
  std::vector<uint64_t> blocks_;
};

}  // namespace tidemark::analysis
