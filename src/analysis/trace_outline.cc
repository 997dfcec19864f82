#include "analysis/trace_outline.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tidemark::analysis {
namespace {

using model::Trace;
using model::TraceFrame;
using model::TraceLeaf;
using model::TraceStack;
using model::TraceTask;

auto function_key(const TraceFrame& frame) {
  return std::tuple(function_address(frame), std::string_view(frame.symbol),
                    std::string_view(frame.module),
                    std::string_view(frame.loads));
}

// How many outer frames stand before the module's own code.
uint32_t frames_before(const Trace& trace, const TraceStack& stack,
                       const StackModule& owner) {
  // Of programs the way there is what one wants to see.
  if (owner.name.empty() || trace.user) return 0;
  const bool is_loading = owner.use == ModuleUse::Loading;
  std::optional<size_t> at;
  for (size_t i = 0; i < stack.size(); ++i) {
    const TraceFrame& frame = trace.frames[stack[i]];
    if (frame.module != owner.name && frame.loads != owner.name) continue;
    at = i;
    // What is loaded begins with who loads it, else with what asked.
    if (!is_loading) break;
  }
  return at ? static_cast<uint32_t>(stack.size() - 1 - *at) : 0;
}

OutlineNode named_group(TraceGroup group, const std::string& name) {
  OutlineNode node;
  node.group = group;
  node.name = name;
  // Never empty: the kernel's image has no name.
  node.key = (group == TraceGroup::Module ? "m:" : "g:") + name;
  return node;
}

OutlineNode task_group(const TraceTask& task) {
  OutlineNode node;
  node.group = TraceGroup::Task;
  node.name = task_name(task);
  node.pid = task.pid;
  // Names change while a task lives; one whose start is not known has nothing
  // else.
  node.key = "t:" + std::to_string(task.pid) + ":" +
             std::to_string(task.start_ns) + ":" +
             (task.start_ns == 0 ? task.name : "");
  return node;
}

}  // namespace

// Which group each leaf is of.
struct TraceOutline::Grouping {
  std::vector<uint32_t> of_leaf;
  std::vector<OutlineNode> groups;
};

namespace {

class GroupNumbers {
 public:
  explicit GroupNumbers(std::vector<OutlineNode>& groups) : groups_(groups) {}
  uint32_t of(OutlineNode node) {
    const auto [at, is_new] =
        known_.try_emplace(node.key, static_cast<uint32_t>(groups_.size()));
    if (is_new) groups_.push_back(std::move(node));
    return at->second;
  }

 private:
  std::vector<OutlineNode>& groups_;
  std::unordered_map<std::string, uint32_t> known_;
};

std::vector<uint32_t> groups_of_tasks(const Trace& trace, TraceGroup by,
                                      std::vector<OutlineNode>& groups) {
  GroupNumbers numbers(groups);
  std::vector<uint32_t> of_task;
  of_task.reserve(trace.tasks.size());
  for (const TraceTask& task : trace.tasks) {
    of_task.push_back(numbers.of(by == TraceGroup::Task
                                     ? task_group(task)
                                     : named_group(by, task.cgroup)));
  }
  return of_task;
}

void take_task_peaks(const Trace& trace, const std::vector<uint32_t>& of_task,
                     std::vector<OutlineNode>& groups) {
  std::vector<TraceNumbers> peaks(groups.size());
  for (size_t i = 0; i < trace.tasks.size(); ++i) {
    const TraceTask& task = trace.tasks[i];
    if (task.folded_count == 0) add_task_peak(task, peaks[of_task[i]]);
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    if (peaks[i].peak_pages == 0) continue;
    groups[i].total.peak_pages = peaks[i].peak_pages;
    groups[i].total.least_peak_pages = peaks[i].least_peak_pages;
  }
}

std::vector<uint32_t> function_numbers(const Trace& trace) {
  const std::vector<TraceFrame>& frames = trace.frames;
  std::vector<uint32_t> sorted(frames.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) {
    return function_key(frames[a]) < function_key(frames[b]);
  });
  std::vector<uint32_t> numbers(frames.size(), 0);
  uint32_t number = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 &&
        function_key(frames[sorted[i]]) != function_key(frames[sorted[i - 1]]))
      ++number;
    numbers[sorted[i]] = number;
  }
  return numbers;
}

// By the functions from the outermost that is shown inwards.
std::vector<uint32_t> ranks_of(const Trace& trace,
                               const std::vector<uint32_t>& functions,
                               const std::vector<uint32_t>& skipped) {
  std::vector<std::vector<uint32_t>> ways(trace.stacks.size());
  for (size_t i = 0; i < ways.size(); ++i) {
    const TraceStack& stack = trace.stacks[i];
    for (size_t k = stack.size() - skipped[i]; k-- > 0;)
      ways[i].push_back(functions[stack[k]]);
  }
  std::vector<uint32_t> sorted(ways.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::sort(sorted.begin(), sorted.end(),
            [&](uint32_t a, uint32_t b) { return ways[a] < ways[b]; });
  std::vector<uint32_t> ranks(ways.size());
  for (size_t i = 0; i < sorted.size(); ++i)
    ranks[sorted[i]] = static_cast<uint32_t>(i);
  return ranks;
}

}  // namespace

TraceIndex make_trace_index(const Trace& trace) {
  TraceIndex index;
  index.functions = function_numbers(trace);
  index.owners.reserve(trace.stacks.size());
  for (const TraceStack& stack : trace.stacks)
    index.owners.push_back(module_use(trace, stack));
  index.ranks = ranks_of(trace, index.functions,
                         std::vector<uint32_t>(trace.stacks.size(), 0));
  return index;
}

TraceOutline::TraceOutline(std::shared_ptr<const Trace> trace,
                           std::shared_ptr<const TraceHistory> history,
                           std::shared_ptr<const TraceIndex> index,
                           TraceGroup by)
    : trace_(std::move(trace)),
      history_(std::move(history)),
      index_(std::move(index)),
      by_(by),
      skipped_(trace_->stacks.size(), 0) {
  Grouping grouping;
  std::vector<uint32_t> of_task;
  std::vector<uint32_t> of_stack;
  if (by == TraceGroup::Module) {
    GroupNumbers numbers(grouping.groups);
    for (size_t i = 0; i < trace_->stacks.size(); ++i) {
      const StackModule& owner = index_->owners[i];
      of_stack.push_back(numbers.of(named_group(by, owner.name)));
      skipped_[i] = frames_before(*trace_, trace_->stacks[i], owner);
    }
  } else {
    of_task = groups_of_tasks(*trace_, by, grouping.groups);
  }
  for (const TraceLeaf& leaf : trace_->leaves) {
    grouping.of_leaf.push_back(by == TraceGroup::Module ? of_stack[leaf.stack]
                                                        : of_task[leaf.task]);
  }
  order_leaves(grouping);
  groups_ = std::move(grouping.groups);
  size_t at = 0;
  for (size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].begin = static_cast<uint32_t>(at);
    while (at < order_.size() && grouping.of_leaf[order_[at]] == i)
      ++at;
    groups_[i].end = static_cast<uint32_t>(at);
    sum(groups_[i]);
    groups_[i].has_children = goes_on(groups_[i]);
  }
  sum_blocks();
  if (by == TraceGroup::Task) take_task_peaks(*trace_, of_task, groups_);
  for (OutlineNode& group : groups_)
    tighten_peak(trace_->peak_pages, group.total);
}

// What is left of a group that is no task's may have peaked at another time:
// its peak is bounded anew. Leaves stay in their order.
TraceOutline TraceOutline::of_tasks(const std::vector<bool>& is_meant) const {
  TraceOutline some;
  some.trace_ = trace_;
  some.history_ = history_;
  some.index_ = index_;
  some.by_ = by_;
  some.skipped_ = skipped_;
  for (const OutlineNode& group : groups_) {
    OutlineNode part = group;
    part.begin = static_cast<uint32_t>(some.order_.size());
    for (uint32_t i = group.begin; i < group.end; ++i) {
      if (is_meant[trace_->leaves[order_[i]].task])
        some.order_.push_back(order_[i]);
    }
    part.end = static_cast<uint32_t>(some.order_.size());
    if (part.begin == part.end) continue;
    if (part.end - part.begin != group.end - group.begin) {
      part.total = {};
      part.before_pages = 0;
      some.sum(part);
      tighten_peak(group.total.peak_pages, part.total);
    }
    part.has_children = some.goes_on(part);
    some.groups_.push_back(std::move(part));
  }
  some.sum_blocks();
  return some;
}

size_t TraceOutline::shown_frames(uint32_t stack) const {
  return trace_->stacks[stack].size() - skipped_[stack];
}

// Counted from the outermost that is shown.
uint32_t TraceOutline::frame_at(uint32_t stack, size_t depth) const {
  const TraceStack& frames = trace_->stacks[stack];
  return frames[frames.size() - 1 - skipped_[stack] - depth];
}

void TraceOutline::order_leaves(const Grouping& grouping) {
  // Below modules stacks begin elsewhere, which is another order.
  const std::vector<uint32_t> ranks =
      by_ == TraceGroup::Module ? ranks_of(*trace_, index_->functions, skipped_)
                                : index_->ranks;
  order_.resize(trace_->leaves.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::vector<uint64_t> places;
  places.reserve(order_.size());
  for (size_t i = 0; i < order_.size(); ++i) {
    places.push_back(uint64_t{grouping.of_leaf[i]} << 32U |
                     ranks[trace_->leaves[i].stack]);
  }
  std::sort(order_.begin(), order_.end(),
            [&](uint32_t a, uint32_t b) { return places[a] < places[b]; });
}

void TraceOutline::sum(OutlineNode& node) const {
  for (uint32_t i = node.begin; i < node.end; ++i) {
    add_leaf(*trace_, trace_->leaves[order_[i]], node.total);
    if (order_[i] < history_->before_pages.size())
      node.before_pages += history_->before_pages[order_[i]];
  }
}

// Of a range the stacks that end here stand first.
bool TraceOutline::goes_on(const OutlineNode& node) const {
  return node.begin < node.end &&
         shown_frames(trace_->leaves[order_[node.end - 1]].stack) > node.depth;
}

OutlineNode TraceOutline::node_of_frame(const OutlineNode& parent,
                                        uint32_t leaf) const {
  const TraceFrame& frame =
      trace_->frames[frame_at(trace_->leaves[leaf].stack, parent.depth)];
  OutlineNode node;
  node.name = frame.symbol;
  node.module = frame.module;
  node.address = frame.address;
  node.depth = parent.depth + 1;
  const uint64_t function = function_address(frame);
  node.key = parent.key + "\n" +
             (function != 0 ? std::to_string(function)
                            : frame.symbol + "\t" + frame.module);
  return node;
}

std::vector<OutlineNode> TraceOutline::children(const OutlineNode& node) const {
  std::vector<OutlineNode> list;
  const auto begin = order_.begin();
  const auto last = begin + node.end;
  const auto stack_of = [&](uint32_t leaf) {
    return trace_->leaves[leaf].stack;
  };
  // What was taken by the node's own code stands first.
  auto at = std::partition_point(begin + node.begin, last, [&](uint32_t leaf) {
    return shown_frames(stack_of(leaf)) <= node.depth;
  });
  while (at != last) {
    const auto function_of = [&](uint32_t leaf) {
      return index_->functions[frame_at(stack_of(leaf), node.depth)];
    };
    const auto end = std::partition_point(at, last, [&](uint32_t leaf) {
      return function_of(leaf) == function_of(*at);
    });
    OutlineNode child = node_of_frame(node, *at);
    child.begin = static_cast<uint32_t>(at - begin);
    child.end = static_cast<uint32_t>(end - begin);
    child.has_children = goes_on(child);
    // Of a task's own peak more is known than of what lies below it.
    const bool is_only = node.group == TraceGroup::Stack &&
                         child.begin == node.begin && child.end == node.end;
    if (is_only) {
      // The only way on: summing up anew at each of twenty levels would be
      // most of the work.
      child.total = node.total;
      child.before_pages = node.before_pages;
    } else {
      sum(child);
    }
    if (trace_->has_peaks) tighten_peak(node.total.peak_pages, child.total);
    list.push_back(std::move(child));
    at = end;
  }
  return list;
}

std::vector<uint32_t> TraceOutline::leaves(const OutlineNode& node) const {
  return {order_.begin() + node.begin, order_.begin() + node.end};
}

void TraceOutline::add_past(uint32_t place, uint64_t* sums) const {
  const size_t count = history_->times_ns.size();
  const size_t first = order_[place] * count;
  if (first + count > history_->pages.size()) return;
  for (size_t k = 0; k < count; ++k)
    sums[k] += history_->pages[first + k];
}

void TraceOutline::sum_blocks() {
  const size_t count = history_->times_ns.size();
  const size_t block_count = order_.size() / kBlock;
  blocks_.assign(block_count * count, 0);
  for (uint32_t i = 0; i < block_count * kBlock; ++i)
    add_past(i, blocks_.data() + i / kBlock * count);
}

std::vector<uint64_t> TraceOutline::series(const OutlineNode& node) const {
  const size_t count = history_->times_ns.size();
  std::vector<uint64_t> sums(count, 0);
  uint32_t at = node.begin;
  while (at < node.end) {
    if (at % kBlock == 0 && at + kBlock <= node.end) {
      const uint64_t* block = blocks_.data() + at / kBlock * count;
      for (size_t k = 0; k < count; ++k)
        sums[k] += block[k];
      at += kBlock;
    } else {
      add_past(at++, sums.data());
    }
  }
  return sums;
}

std::vector<uint32_t> TraceOutline::outer_frames(uint32_t stack) const {
  const TraceStack& frames = trace_->stacks[stack];
  return {frames.end() - skipped_[stack], frames.end()};
}

}  // namespace tidemark::analysis
