#include "source/bpf/trace_reader.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/file.h"
#include "parse/process_files.h"
#include "source/bpf/loading.h"
#include "source/cgroups.h"
#include "source/process_parts.h"

namespace tidemark::source {
namespace {

constexpr uint32_t kTaskMask = (1U << TM_TASK_BITS) - 1;

// Stands between a function that programs hang on and its caller.
bool is_detour(const model::TraceFrame& frame) {
  return frame.symbol.starts_with("bpf_trampoline_");
}

// Of a load the table has the frames once, whatever is loaded.
const tm_trace_stack& framed(const MappedTable<tm_trace_stack>& stacks,
                             uint32_t place) {
  const uint32_t base = stacks[place].base;
  return stacks[base == 0 || base > stacks.count() ? place : base - 1];
}

std::span<const __u64> frames_of(const tm_trace_stack& stack) {
  return {stack.frames, std::min<uint32_t>(stack.depth, TM_STACK_DEPTH)};
}

// What one node counted, to the leaf it belongs to.
void add_node(const tm_trace_node& node, const TraceRun& run,
              model::TraceLeaf& leaf) {
  leaf.pages += run.scaled(node.pages);
  leaf.peak_pages += run.scaled(node.peak_pages);
  leaf.machine_peak_pages +=
      run.scaled(node.epoch == run.epoch ? node.saved_pages : node.pages);
  leaf.allocation_count += node.allocation_count * run.sample_period;
  if (node.pages > 0 && run.now_ns > node.held_since_ns) {
    leaf.held_ns =
        std::max<uint64_t>(leaf.held_ns, run.now_ns - node.held_since_ns);
  }
}

}  // namespace

std::vector<TraceReader::PlacedNode> TraceReader::copy_nodes(
    const MappedTable<tm_trace_node>& table) {
  std::vector<PlacedNode> nodes;
  for (uint32_t i = 0; i < table.count(); ++i) {
    if (table[i].key != 0) nodes.emplace_back(i, table[i]);
  }
  return nodes;
}

// Whether the entry of a task or a node is another's than when it was last
// read: what it became then must go.
bool TraceReader::has_passed_on(const TraceTables& tables,
                                const std::vector<PlacedNode>& nodes) const {
  for (uint32_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].key != 0 &&
        (tasks_[i].key != tables.tasks[i].key ||
         tasks_[i].generation != tables.tasks[i].generation)) {
      return true;
    }
  }
  return std::any_of(nodes.begin(), nodes.end(), [&](const PlacedNode& node) {
    const uint64_t known = nodes_[node.first].key;
    return known != 0 && known != node.second.key;
  });
}

void TraceReader::start_over(const TraceTables& tables, const TraceRun& run) {
  builder_ = {};
  stacks_.assign(tables.stacks.count(), std::nullopt);
  tasks_.assign(tables.tasks.count(), {});
  nodes_.assign(tables.nodes.count(), {});
  folded_task_.reset();
  lows_version_.reset();
  modules_version_ = run.modules->version();
}

// True when code that has been added is called otherwise now.
bool TraceReader::learn_names(const TraceTables& tables, const TraceRun& run,
                              const Roots& roots,
                              std::vector<std::string>& notes) {
  std::vector<uint64_t> addresses;
  for (uint32_t i = 0; i < tables.stacks.count(); ++i) {
    if (tables.stacks[i].hash == 0 || stacks_[i]) continue;
    const auto frames = frames_of(framed(tables.stacks, i));
    addresses.insert(addresses.end(), frames.begin(), frames.end());
  }
  return names_.learn(
      roots, addresses,
      run.has_ended ? FrameNames::Patience::None : FrameNames::Patience::Some,
      notes);
}

uint32_t TraceReader::add_stack(const TraceTables& tables, const TraceRun& run,
                                const ModuleHistory& history, uint32_t place) {
  const tm_trace_stack& stack = framed(tables.stacks, place);
  const uint32_t load = tables.stacks[place].load;
  std::vector<uint32_t> frames;
  for (uint64_t address : frames_of(stack)) {
    const model::TraceFrame* now = names_.find(address);
    // Filled in since names were asked for: the next reading has it.
    if (now == nullptr) break;
    model::TraceFrame frame = history.frame_at(*now, stack.seen_at);
    if (frames.empty() && is_tracer(frame)) continue;
    if (is_detour(frame)) continue;
    if (load != 0 && loads_modules(frame)) {
      frame.loads = run.modules->name_of(load);
    }
    frames.push_back(builder_.frame(frame));
  }
  return builder_.stack(frames);
}

void TraceReader::add_stacks(const TraceTables& tables, const TraceRun& run) {
  const ModuleHistory history = run.modules->history();
  for (uint32_t i = 0; i < tables.stacks.count(); ++i) {
    if (tables.stacks[i].hash == 0 || stacks_[i]) continue;
    // The hash is written first: without frames it is not complete yet.
    const auto frames = frames_of(framed(tables.stacks, i));
    if (frames.empty() || names_.find(frames.back()) == nullptr) continue;
    stacks_[i] = add_stack(tables, run, history, i);
  }
  builder_.head().modules = history.modules();
}

// Groups are listed again, once in a reading, for one that is not known.
std::string TraceReader::group_of(uint64_t id, const Roots& roots) {
  if (!groups_.contains(id) && !has_listed_groups_) {
    groups_ = CgroupHierarchy::find(roots).list();
    has_listed_groups_ = true;
  }
  const auto group = groups_.find(id);
  return group != groups_.end() ? group->second : std::string();
}

void TraceReader::add_task(const tm_trace_task& entry, const Roots& roots,
                           Task& known) {
  model::TraceTask task;
  task.pid = static_cast<int32_t>(entry.tgid);
  task.start_ns = entry.start_ns;
  task.is_kernel_thread = (entry.flags & TM_TASK_KERNEL) != 0;
  task.is_interrupt = (entry.flags & TM_TASK_INTERRUPT) != 0;
  task.name = task.is_interrupt ? "interrupts" : text_of(entry.comm);
  task.cgroup = group_of(entry.cgroup, roots);
  known.key = entry.key;
  known.generation = entry.generation;
  known.index = builder_.task(task);
}

// What may be another since it was last read: an exec brings a name and
// arguments. Those of one that was there before are asked for once.
void TraceReader::name_task(const tm_trace_task& entry, const Roots& roots,
                            Task& known, model::TraceTask& task) {
  task.has_exited = (entry.flags & TM_TASK_EXITED) != 0;
  if (task.is_interrupt) return;
  task.name = text_of(entry.comm);
  if ((entry.flags & TM_TASK_HAS_COMMAND) != 0) {
    const std::string_view arguments(entry.command, sizeof entry.command);
    if (known.arguments == arguments) return;
    known.arguments = arguments;
    task.command_line = parse::parse_command_line(arguments);
  } else if (!known.was_asked && !task.has_exited && !task.is_kernel_thread) {
    known.was_asked = true;
    task.command_line = read_command_line(roots, task.pid);
  } else {
    return;
  }
  std::ranges::replace(task.command_line, '\0', ' ');
}

void TraceReader::add_tasks(const TraceTables& tables, const TraceRun& run,
                            const Roots& roots) {
  has_listed_groups_ = false;
  for (model::TraceTask& task : builder_.head().tasks) {
    task.pages = 0;
    task.peak_pages = 0;
  }
  for (uint32_t i = 0; i < tables.tasks.count(); ++i) {
    const tm_trace_task& entry = tables.tasks[i];
    if (entry.key == 0) continue;
    // With a filter there are thousands of others, who never had a page.
    const bool is_other = (entry.flags & TM_TASK_UNWANTED) != 0 &&
                          entry.pages == 0 && entry.peak_pages == 0;
    if (is_other && tasks_[i].key == 0) continue;
    if (tasks_[i].key == 0) add_task(entry, roots, tasks_[i]);
    model::TraceTask& task = builder_.task_at(tasks_[i].index);
    name_task(entry, roots, tasks_[i], task);
    task.pages += run.scaled(entry.pages);
    task.peak_pages += run.scaled(entry.peak_pages);
  }
}

uint32_t TraceReader::folded_task(const TraceRun& run) {
  if (!folded_task_) {
    model::TraceTask task;
    task.name = "exited";
    task.has_exited = true;
    folded_task_ = builder_.task(task);
  }
  builder_.task_at(*folded_task_).folded_count =
      std::max<uint64_t>(run.folded_tasks, 1);
  return *folded_task_;
}

// False when what it refers to is not read yet.
bool TraceReader::add_leaf(const TraceTables& tables, const TraceRun& run,
                           uint32_t place, const tm_trace_node& node) {
  const auto stack = static_cast<uint32_t>(node.key >> 32);
  const auto task = static_cast<uint32_t>(node.key) & kTaskMask;
  if (stack == 0 || stack > stacks_.size() || !stacks_[stack - 1] ||
      task == 0 || task > tasks_.size()) {
    return false;
  }
  Node& known = nodes_[place];
  known.is_folded = tables.tasks[task - 1].generation != node.generation;
  if (!known.is_folded && tasks_[task - 1].key == 0) return false;
  known.key = node.key;
  known.leaf = builder_.leaf_index(
      *stacks_[stack - 1],
      known.is_folded ? folded_task(run) : tasks_[task - 1].index);
  return true;
}

void TraceReader::add_leaves(const TraceTables& tables, const TraceRun& run,
                             const std::vector<PlacedNode>& nodes) {
  for (model::TraceLeaf& leaf : builder_.head().leaves) {
    leaf.pages = 0;
    leaf.peak_pages = 0;
    leaf.machine_peak_pages = 0;
    leaf.allocation_count = 0;
    leaf.held_ns = 0;
  }
  bool has_new = false;
  for (const auto& [place, node] : nodes) {
    if (nodes_[place].key == 0) {
      if (!add_leaf(tables, run, place, node)) continue;
      has_new = true;
    }
    add_node(node, run, builder_.leaf_at(nodes_[place].leaf));
    if (nodes_[place].is_folded) {
      builder_.task_at(folded_task(run)).pages += run.scaled(node.pages);
    }
  }
  if (has_new || lows_version_ != run.lows->version()) add_lows(run, nodes);
}

void TraceReader::add_lows(const TraceRun& run,
                           const std::vector<PlacedNode>& nodes) {
  lows_version_ = run.lows->version();
  for (model::TraceLeaf& leaf : builder_.head().leaves)
    leaf.lows.clear();
  for (const auto& [place, node] : nodes) {
    if (nodes_[place].key == 0 || nodes_[place].is_folded) continue;
    model::TraceLeaf& leaf = builder_.leaf_at(nodes_[place].leaf);
    const std::vector<uint64_t> lows = run.lows->lows_of(place);
    leaf.lows.resize(std::max(leaf.lows.size(), lows.size()));
    for (size_t at = 0; at < lows.size(); ++at)
      leaf.lows[at] += lows[at] * run.sample_period;
  }
}

void TraceReader::add_folded(const TraceTables& tables, const TraceRun& run) {
  for (uint32_t i = 0; i < tables.stacks.count(); ++i) {
    const tm_trace_stack& stack = tables.stacks[i];
    if (stack.hash == 0 || stack.folded_allocation_count == 0) continue;
    if (!stacks_[i]) continue;
    model::TraceLeaf& leaf = builder_.leaf(*stacks_[i], folded_task(run));
    leaf.peak_pages += run.scaled(stack.folded_peak_pages);
    if (stack.folded_epoch == run.epoch) {
      leaf.machine_peak_pages += run.scaled(stack.folded_saved_pages);
    }
    leaf.allocation_count += stack.folded_allocation_count * run.sample_period;
  }
}

model::Trace TraceReader::read(const TraceTables& tables, const TraceRun& run,
                               const Roots& roots,
                               std::vector<std::string>& notes) {
  // First what refers to the others: those are in their tables by then, also
  // while more are added.
  const std::vector<PlacedNode> nodes = copy_nodes(tables.nodes);
  const bool is_first = stacks_.empty();
  if (is_first || has_passed_on(tables, nodes) ||
      modules_version_ != run.modules->version()) {
    start_over(tables, run);
  }
  if (learn_names(tables, run, roots, notes)) start_over(tables, run);
  add_stacks(tables, run);
  add_tasks(tables, run, roots);
  add_leaves(tables, run, nodes);
  add_folded(tables, run);
  return builder_.so_far();
}

}  // namespace tidemark::source
