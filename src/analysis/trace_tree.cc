#include "analysis/trace_tree.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/module_use.h"
#include "analysis/trace_growth.h"

namespace tidemark::analysis {
namespace {

using model::Trace;
using model::TraceFrame;
using model::TraceLeaf;
using model::TraceStack;
using model::TraceTask;

// What tells the children of one node apart.
using Key =
    std::tuple<uint64_t, uint64_t, std::string, std::string, std::string>;

struct Step {
  Key key;
  TraceNode node;  // name and the like; no numbers
};

// A tree that is being filled.
struct Growing {
  TraceNode node;
  std::map<Key, std::unique_ptr<Growing>> children;
};

Step frame_step(const TraceFrame& frame) {
  Step step;
  // A function is one node, wherever in it the call is.
  step.key = {function_address(frame), 0, frame.symbol, frame.module,
              frame.loads};
  step.node.group = TraceGroup::Stack;
  step.node.name = frame.symbol;
  step.node.module = frame.module;
  step.node.loads = frame.loads;
  step.node.address = frame.address;
  return step;
}

Step task_step(const TraceTask& task) {
  Step step;
  step.key = {static_cast<uint32_t>(task.pid),
              task.start_ns,
              task.start_ns == 0 ? task.name : std::string(),
              {},
              {}};
  step.node.group = TraceGroup::Task;
  step.node.name = task_name(task);
  step.node.pid = task.pid;
  return step;
}

Step named_step(TraceGroup group, const std::string& name) {
  Step step;
  step.key = {0, 0, name, {}, {}};
  step.node.group = group;
  step.node.name = name;
  return step;
}

// The way from the root to where the leaf belongs.
std::vector<Step> steps_of(const Trace& trace, const TraceLeaf& leaf,
                           const std::vector<TraceGroup>& groups) {
  const TraceTask& task = trace.tasks[leaf.task];
  const TraceStack& stack = trace.stacks[leaf.stack];
  std::vector<Step> steps;
  for (TraceGroup group : groups) {
    switch (group) {
      case TraceGroup::Task:
        steps.push_back(task_step(task));
        break;
      case TraceGroup::Cgroup:
        steps.push_back(named_step(group, task.cgroup));
        break;
      case TraceGroup::Module:
        steps.push_back(named_step(group, module_use(trace, stack).name));
        break;
      case TraceGroup::Stack:
        for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame)
          steps.push_back(frame_step(trace.frames[*frame]));
        break;
    }
  }
  return steps;
}

using TaskPeaks = std::map<Key, TraceNumbers>;

TaskPeaks peaks_of_tasks(const Trace& trace) {
  TaskPeaks peaks;
  for (const TraceTask& task : trace.tasks) {
    if (task.folded_count == 0) add_task_peak(task, peaks[task_step(task).key]);
  }
  return peaks;
}

void tighten(Growing& growing, uint64_t most_pages) {
  tighten_peak(most_pages, growing.node.total);
  for (auto& [key, child] : growing.children)
    tighten(*child, growing.node.total.peak_pages);
}

uint64_t size_of(const TraceNode& node, TraceOrder order) {
  switch (order) {
    case TraceOrder::ByPages:
      return node.total.pages;
    case TraceOrder::ByPeak:
      return node.total.peak_pages;
    case TraceOrder::ByMachinePeak:
      return node.total.machine_peak_pages;
  }
  return 0;
}

// Of children that are sorted as many as tell enough of their parent. One at
// least: what has given everything back still has the stack of its peak.
size_t count_kept(const std::vector<TraceNode>& children,
                  const TraceTreeOptions& options) {
  size_t count = children.size();
  if (options.throttle_percent > 0) {
    uint64_t whole = 0;
    for (const TraceNode& child : children)
      whole += size_of(child, options.order);
    const uint64_t budget =
        (whole * std::min<uint32_t>(options.throttle_percent, 100) + 99) / 100;
    uint64_t told = 0;
    count = 0;
    while (count < children.size() && (count == 0 || told < budget))
      told += size_of(children[count++], options.order);
  }
  return options.top > 0 ? std::min(count, options.top) : count;
}

// Keeps the largest children of each node; of the root all, if told so.
void cut(TraceNode& node, const TraceTreeOptions& options, bool is_kept_whole) {
  std::vector<TraceNode>& children = node.children;
  // Of those that hold as much now the one that held more comes first.
  const auto size = [&](const TraceNode& child) {
    return std::pair(size_of(child, options.order), child.total.peak_pages);
  };
  std::ranges::stable_sort(children, std::greater<>(), size);
  if (!is_kept_whole) children.resize(count_kept(children, options));
  for (TraceNode& child : children)
    cut(child, options, false);
}

TraceNode grown(Growing growing) {
  for (auto& [key, child] : growing.children)
    growing.node.children.push_back(grown(std::move(*child)));
  growing.children.clear();
  return std::move(growing.node);
}

}  // namespace

// One that moved between control groups has several parts.
void add_task_peak(const TraceTask& task, TraceNumbers& numbers) {
  numbers.peak_pages += task.peak_pages;
  if (task.is_peak_bound) return;
  numbers.least_peak_pages =
      std::max(numbers.least_peak_pages, task.peak_pages);
}

void add_leaf(const Trace& trace, const TraceLeaf& leaf,
              TraceNumbers& numbers) {
  numbers.pages += leaf.pages;
  numbers.machine_peak_pages += leaf.machine_peak_pages;
  numbers.peak_pages += leaf.peak_pages;
  const TraceTask& task = trace.tasks[leaf.task];
  if (task.folded_count == 0 && !task.is_peak_bound) {
    numbers.least_peak_pages =
        std::max(numbers.least_peak_pages, leaf.peak_pages);
  }
  numbers.allocation_count += leaf.allocation_count;
  const std::optional<Growth> growth = growth_of(trace, leaf);
  if (growth) numbers.grown_pages += growth->grown_pages;
  numbers.oldest_ns = std::max(numbers.oldest_ns, leaf.held_ns);
}

void tighten_peak(uint64_t most_pages, TraceNumbers& numbers) {
  numbers.peak_pages = std::min(numbers.peak_pages, most_pages);
  numbers.least_peak_pages = std::max(
      {numbers.least_peak_pages, numbers.pages, numbers.machine_peak_pages});
  // Races between two counters of the kernel's are a page or two wide.
  numbers.peak_pages = std::max(numbers.peak_pages, numbers.least_peak_pages);
}

uint64_t function_address(const TraceFrame& frame) {
  return frame.address > frame.offset ? frame.address - frame.offset : 0;
}

std::string task_name(const TraceTask& task) {
  if (!task.command_line.empty()) return task.command_line;
  return "[" + task.name + "]";
}

TraceNode make_trace_tree(const Trace& trace, const TraceTreeOptions& options) {
  const TaskPeaks task_peaks = peaks_of_tasks(trace);
  Growing root;
  for (const TraceLeaf& leaf : trace.leaves) {
    Growing* at = &root;
    add_leaf(trace, leaf, at->node.total);
    for (Step& step : steps_of(trace, leaf, options.groups)) {
      std::unique_ptr<Growing>& child = at->children[step.key];
      if (!child) {
        child = std::make_unique<Growing>();
        child->node = std::move(step.node);
      } else {
        // Of the places in one function the first, whatever the order of the
        // leaves: what is read from a file has another.
        child->node.address = std::min(child->node.address, step.node.address);
      }
      at = child.get();
      add_leaf(trace, leaf, at->node.total);
    }
    at->node.own_pages += leaf.pages;
  }
  // Where the first level is tasks, theirs are all their pages.
  if (!options.groups.empty() && options.groups[0] == TraceGroup::Task) {
    for (auto& [key, child] : root.children) {
      auto known = task_peaks.find(key);
      if (known == task_peaks.end()) continue;
      child->node.total.peak_pages = known->second.peak_pages;
      child->node.total.least_peak_pages = known->second.least_peak_pages;
    }
  }
  root.node.total.peak_pages = trace.peak_pages;
  root.node.total.least_peak_pages = trace.peak_pages;
  if (trace.has_peaks) tighten(root, trace.peak_pages);
  TraceNode tree = grown(std::move(root));
  cut(tree, options, options.keeps_entries);
  return tree;
}

}  // namespace tidemark::analysis
