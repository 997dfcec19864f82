#include "source/bpf/trace_tables.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <utility>

#include "base/file.h"
#include "parse/process_files.h"
#include "source/bpf/loading.h"
#include "source/cgroups.h"
#include "source/kernel_files.h"
#include "source/trace_stacks.h"

namespace tidemark::source {
namespace {

constexpr uint32_t kTaskMask = (1U << TM_TASK_BITS) - 1;
constexpr uint64_t kFramesPerSection = uint64_t{1} << TM_SECTION_SHIFT;

// Our own programs and the tracepoint's, which stand above the allocator.
bool is_ours(const model::TraceFrame& frame) {
  return frame.module == "bpf" || frame.symbol.starts_with("bpf_trace_run") ||
         frame.symbol.starts_with("bpf_prog_") ||
         frame.symbol.starts_with("__bpf_trace_") ||
         frame.symbol.starts_with("__traceiter_") ||
         frame.symbol.starts_with("__probestub_");
}

// Stands between a function that programs hang on and its caller.
bool is_detour(const model::TraceFrame& frame) {
  return frame.symbol.starts_with("bpf_trampoline_");
}

std::span<const __u64> frames_of(const tm_trace_stack& stack) {
  return {stack.frames, std::min<uint32_t>(stack.depth, TM_STACK_DEPTH)};
}

std::vector<uint32_t> build_stacks(const MappedTable<tm_trace_stack>& stacks,
                                   const TraceRun& run, const Roots& roots,
                                   FrameNames& names,
                                   model::TraceBuilder& builder,
                                   std::vector<std::string>& notes) {
  // Of a load the table has the frames once, whatever is loaded.
  const auto framed = [&](uint32_t index) -> const tm_trace_stack& {
    const uint32_t base = stacks[index].base;
    return stacks[base == 0 || base > stacks.count() ? index : base - 1];
  };
  // Looked at once: there may be more of them the next moment.
  std::vector<uint32_t> seen;
  std::vector<uint64_t> addresses;
  for (uint32_t i = 0; i < stacks.count(); ++i) {
    if (stacks[i].hash == 0) continue;
    seen.push_back(i);
    const auto frames = frames_of(framed(i));
    addresses.insert(addresses.end(), frames.begin(), frames.end());
  }
  names.learn(
      roots, addresses,
      run.has_ended ? FrameNames::Patience::None : FrameNames::Patience::Some,
      notes);
  const ModuleHistory history = run.modules->history();
  std::vector<uint32_t> stack_of(stacks.count());
  for (uint32_t i : seen) {
    std::vector<uint32_t> frames;
    const tm_trace_stack& stack = framed(i);
    for (uint64_t address : frames_of(stack)) {
      model::TraceFrame frame =
          history.frame_at(names.at(address), stack.seen_at);
      if (frames.empty() && is_ours(frame)) continue;
      if (is_detour(frame)) continue;
      if (stacks[i].load != 0 && loads_modules(frame)) {
        frame.loads = run.modules->name_of(stacks[i].load);
      }
      frames.push_back(builder.frame(frame));
    }
    stack_of[i] = builder.stack(frames);
  }
  builder.head().modules = history.modules();
  return stack_of;
}

std::vector<uint32_t> build_tasks(const MappedTable<tm_trace_task>& tasks,
                                  const TraceRun& run, const Roots& roots,
                                  model::TraceBuilder& builder) {
  const std::map<uint64_t, std::string> groups =
      CgroupHierarchy::find(roots).list();
  std::vector<uint32_t> task_of(tasks.count());
  for (uint32_t i = 0; i < tasks.count(); ++i) {
    const tm_trace_task& entry = tasks[i];
    if (entry.key == 0) continue;
    // With a filter there are thousands of others, who never had a page.
    const bool is_other = (entry.flags & TM_TASK_UNWANTED) != 0 &&
                          entry.pages == 0 && entry.peak_pages == 0;
    if (is_other) continue;
    model::TraceTask task;
    task.pid = static_cast<int32_t>(entry.tgid);
    task.start_ns = entry.start_ns;
    task.name = text_of(entry.comm);
    task.is_kernel_thread = (entry.flags & TM_TASK_KERNEL) != 0;
    task.is_interrupt = (entry.flags & TM_TASK_INTERRUPT) != 0;
    task.has_exited = (entry.flags & TM_TASK_EXITED) != 0;
    if (task.is_interrupt) task.name = "interrupts";
    const auto group = groups.find(entry.cgroup);
    if (group != groups.end()) task.cgroup = group->second;
    if ((entry.flags & TM_TASK_HAS_COMMAND) != 0) {
      task.command_line =
          parse::parse_command_line({entry.command, sizeof entry.command});
    } else if (!task.has_exited && !task.is_kernel_thread &&
               !task.is_interrupt) {
      base::Result<std::string> line =
          base::read_file_at(roots.proc, std::to_string(task.pid) + "/cmdline");
      if (line) task.command_line = parse::parse_command_line(*line);
    }
    std::ranges::replace(task.command_line, '\0', ' ');
    task_of[i] = builder.task(task);
    model::TraceTask& built = builder.task_at(task_of[i]);
    built.pages += run.scaled(entry.pages);
    built.peak_pages += run.scaled(entry.peak_pages);
  }
  return task_of;
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

// Stands for all whose entries others have now. Made when it is first asked
// for: most traces have none.
class FoldedTask {
 public:
  FoldedTask(const TraceRun& run, model::TraceBuilder& builder)
      : run_(run), builder_(builder) {}
  uint32_t index() {
    if (is_made_) return index_;
    model::TraceTask task;
    task.name = "exited";
    task.has_exited = true;
    task.folded_count = std::max<uint64_t>(run_.folded_tasks, 1);
    index_ = builder_.task(task);
    is_made_ = true;
    return index_;
  }

 private:
  const TraceRun& run_;
  model::TraceBuilder& builder_;
  bool is_made_ = false;
  uint32_t index_ = 0;
};

// A node with its place in the table.
using PlacedNode = std::pair<uint32_t, tm_trace_node>;

std::vector<PlacedNode> copy_nodes(const MappedTable<tm_trace_node>& table) {
  std::vector<PlacedNode> nodes;
  for (uint32_t i = 0; i < table.count(); ++i) {
    if (table[i].key != 0) nodes.emplace_back(i, table[i]);
  }
  return nodes;
}

void build_leaves(const std::vector<PlacedNode>& nodes,
                  const MappedTable<tm_trace_task>& tasks, const TraceRun& run,
                  const std::vector<uint32_t>& stack_of,
                  const std::vector<uint32_t>& task_of, FoldedTask& folded,
                  model::TraceBuilder& builder) {
  for (const auto& [i, node] : nodes) {
    const auto stack = static_cast<uint32_t>(node.key >> 32);
    const auto task = static_cast<uint32_t>(node.key) & kTaskMask;
    if (stack == 0 || stack > stack_of.size() || task == 0 ||
        task > task_of.size()) {
      continue;
    }
    const bool is_of_another = tasks[task - 1].generation != node.generation;
    model::TraceLeaf& leaf =
        builder.leaf(stack_of[stack - 1],
                     is_of_another ? folded.index() : task_of[task - 1]);
    add_node(node, run, leaf);
    if (is_of_another) {
      builder.task_at(folded.index()).pages += run.scaled(node.pages);
      continue;
    }
    const std::vector<uint64_t> node_lows = run.lows->lows_of(i);
    leaf.lows.resize(std::max(leaf.lows.size(), node_lows.size()));
    for (size_t at = 0; at < node_lows.size(); ++at)
      leaf.lows[at] += node_lows[at] * run.sample_period;
  }
}

void build_folded(const TraceTables& tables, const TraceRun& run,
                  const std::vector<uint32_t>& stack_of, FoldedTask& folded,
                  model::TraceBuilder& builder) {
  for (uint32_t i = 0; i < tables.stacks.count(); ++i) {
    const tm_trace_stack& stack = tables.stacks[i];
    if (stack.hash == 0 || stack.folded_allocation_count == 0) continue;
    model::TraceLeaf& leaf = builder.leaf(stack_of[i], folded.index());
    leaf.peak_pages += run.scaled(stack.folded_peak_pages);
    if (stack.folded_epoch == run.epoch) {
      leaf.machine_peak_pages += run.scaled(stack.folded_saved_pages);
    }
    leaf.allocation_count += stack.folded_allocation_count * run.sample_period;
  }
}

}  // namespace

TableSizes sizes_for(uint64_t ram_pages) {
  constexpr uint64_t kPagesPerNode = 64;
  const uint64_t nodes = std::clamp<uint64_t>(
      std::bit_ceil(ram_pages / kPagesPerNode), 8192, 1U << 20);
  TableSizes sizes;
  sizes.nodes = static_cast<uint32_t>(nodes);
  sizes.stacks =
      static_cast<uint32_t>(std::clamp<uint64_t>(nodes / 4, 4096, 65536));
  sizes.tasks =
      static_cast<uint32_t>(std::clamp<uint64_t>(nodes / 8, 2048, 65536));
  return sizes;
}

base::Result<Sections> find_sections(const Roots& roots, uint64_t page_size) {
  const model::Reading<model::IoMemory> iomem = read_iomem(roots);
  if (!iomem || iomem->addresses == model::AddressForm::Hidden) {
    return base::fail(
        base::ErrorKind::Denied,
        "where RAM is cannot be told: " + roots.proc.join("iomem") + ": " +
            (iomem ? "addresses read as 0" : iomem.unknown_because),
        "run as root, or grant CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN");
  }
  Sections sections;
  for (const model::IoResource& resource : iomem->resources) {
    if (!model::is_system_ram(resource)) continue;
    const uint64_t first = resource.first / page_size;
    const uint64_t last = resource.last / page_size;
    sections.ram_pages += last - first + 1;
    const uint64_t last_section = last / kFramesPerSection;
    if (sections.first_chunk.size() <= last_section) {
      sections.first_chunk.resize(last_section + 1);
    }
    for (uint64_t i = first / kFramesPerSection; i <= last_section; ++i) {
      if (sections.first_chunk[i] != 0) continue;
      sections.first_chunk[i] = sections.chunk_count + 1;
      sections.chunk_count += TM_CHUNKS_PER_SECTION;
    }
  }
  return sections;
}

void build_trace(const TraceTables& tables, const TraceRun& run,
                 const Roots& roots, FrameNames& names,
                 model::TraceBuilder& builder,
                 std::vector<std::string>& notes) {
  // First what refers to the others: those are in their tables by then, also
  // while more are added.
  const std::vector<PlacedNode> nodes = copy_nodes(tables.nodes);
  const std::vector<uint32_t> stack_of =
      build_stacks(tables.stacks, run, roots, names, builder, notes);
  const std::vector<uint32_t> task_of =
      build_tasks(tables.tasks, run, roots, builder);
  FoldedTask folded(run, builder);
  build_leaves(nodes, tables.tasks, run, stack_of, task_of, folded, builder);
  build_folded(tables, run, stack_of, folded, builder);
}

}  // namespace tidemark::source
