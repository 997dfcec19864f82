#include "analysis/trace_outline.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/module_use.h"

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

// The exact peaks of tasks, which a sum over their leaves cannot give. One that
// moved between control groups has several parts.
void take_task_peaks(const Trace& trace, const std::vector<uint32_t>& of_task,
                     std::vector<OutlineNode>& groups) {
  std::vector<TraceNumbers> peaks(groups.size());
  for (size_t i = 0; i < trace.tasks.size(); ++i) {
    const TraceTask& task = trace.tasks[i];
    if (task.folded_count != 0) continue;
    TraceNumbers& numbers = peaks[of_task[i]];
    numbers.peak_pages += task.peak_pages;
    numbers.least_peak_pages =
        std::max(numbers.least_peak_pages, task.peak_pages);
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    if (peaks[i].peak_pages == 0) continue;
    groups[i].total.peak_pages = peaks[i].peak_pages;
    groups[i].total.least_peak_pages = peaks[i].least_peak_pages;
  }
}

}  // namespace

TraceOutline::TraceOutline(std::shared_ptr<const Trace> trace,
                           std::shared_ptr<const TraceHistory> history,
                           TraceGroup by)
    : trace_(std::move(trace)),
      history_(std::move(history)),
      by_(by),
      skipped_(trace_->stacks.size(), 0) {
  number_functions();
  Grouping grouping;
  std::vector<uint32_t> of_task;
  std::vector<uint32_t> of_stack;
  if (by == TraceGroup::Module) {
    GroupNumbers numbers(grouping.groups);
    for (size_t i = 0; i < trace_->stacks.size(); ++i) {
      const StackModule owner = module_use(*trace_, trace_->stacks[i]);
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
  }
  if (by == TraceGroup::Task) take_task_peaks(*trace_, of_task, groups_);
  for (OutlineNode& group : groups_)
    tighten_peak(trace_->peak_pages, group.total);
}

void TraceOutline::number_functions() {
  const std::vector<TraceFrame>& frames = trace_->frames;
  std::vector<uint32_t> sorted(frames.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) {
    return function_key(frames[a]) < function_key(frames[b]);
  });
  functions_.assign(frames.size(), 0);
  uint32_t number = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 &&
        function_key(frames[sorted[i]]) != function_key(frames[sorted[i - 1]]))
      ++number;
    functions_[sorted[i]] = number;
  }
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
  const size_t stack_count = trace_->stacks.size();
  std::vector<uint32_t> sorted(stack_count);
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) {
    const size_t shared = std::min(shown_frames(a), shown_frames(b));
    for (size_t i = 0; i < shared; ++i) {
      const uint32_t left = functions_[frame_at(a, i)];
      const uint32_t right = functions_[frame_at(b, i)];
      if (left != right) return left < right;
    }
    return shown_frames(a) < shown_frames(b);
  });
  std::vector<uint32_t> rank(stack_count);
  for (size_t i = 0; i < stack_count; ++i)
    rank[sorted[i]] = static_cast<uint32_t>(i);
  order_.resize(trace_->leaves.size());
  std::iota(order_.begin(), order_.end(), 0U);
  const auto place = [&](uint32_t leaf) {
    return uint64_t{grouping.of_leaf[leaf]} << 32U |
           rank[trace_->leaves[leaf].stack];
  };
  std::sort(order_.begin(), order_.end(),
            [&](uint32_t a, uint32_t b) { return place(a) < place(b); });
}

void TraceOutline::sum(OutlineNode& node) const {
  for (uint32_t i = node.begin; i < node.end; ++i) {
    const TraceLeaf& leaf = trace_->leaves[order_[i]];
    add_leaf(*trace_, leaf, node.total);
    if (order_[i] < history_->before_pages.size())
      node.before_pages += history_->before_pages[order_[i]];
    node.has_children |= shown_frames(leaf.stack) > node.depth;
  }
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
  uint32_t at = node.begin;
  while (at < node.end) {
    const uint32_t stack = trace_->leaves[order_[at]].stack;
    // What was taken by the node's own code stands first.
    if (shown_frames(stack) <= node.depth) {
      ++at;
      continue;
    }
    OutlineNode child = node_of_frame(node, order_[at]);
    const uint32_t function = functions_[frame_at(stack, node.depth)];
    child.begin = at;
    while (at < node.end &&
           functions_[frame_at(trace_->leaves[order_[at]].stack, node.depth)] ==
               function)
      ++at;
    child.end = at;
    sum(child);
    if (trace_->has_peaks) tighten_peak(node.total.peak_pages, child.total);
    list.push_back(std::move(child));
  }
  return list;
}

std::vector<uint32_t> TraceOutline::leaves(const OutlineNode& node) const {
  return {order_.begin() + node.begin, order_.begin() + node.end};
}

std::vector<uint64_t> TraceOutline::series(const OutlineNode& node) const {
  const size_t count = history_->times_ns.size();
  std::vector<uint64_t> sums(count, 0);
  for (uint32_t i = node.begin; i < node.end; ++i) {
    const size_t first = order_[i] * count;
    if (first + count > history_->pages.size()) continue;
    for (size_t k = 0; k < count; ++k)
      sums[k] += history_->pages[first + k];
  }
  return sums;
}

std::vector<uint32_t> TraceOutline::outer_frames(uint32_t stack) const {
  const TraceStack& frames = trace_->stacks[stack];
  return {frames.end() - skipped_[stack], frames.end()};
}

}  // namespace tidemark::analysis
