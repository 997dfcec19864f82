#include "model/trace_join.h"

#include <algorithm>

#include "model/trace_builder.h"

namespace tidemark::model {
namespace {

// The two tell the start of a process from different clocks: by ticks of 10 ms,
// by an event, or as the kernel has it.
constexpr uint64_t kSameStartNs = 50'000'000;

bool is_same(const TraceTask& a, const TraceTask& b) {
  if (a.is_interrupt || b.is_interrupt) {
    return a.is_interrupt && b.is_interrupt;
  }
  if (a.pid != b.pid || a.folded_count != 0 || b.folded_count != 0) {
    return false;
  }
  const uint64_t apart = a.start_ns > b.start_ns ? a.start_ns - b.start_ns
                                                 : b.start_ns - a.start_ns;
  return a.start_ns == 0 || b.start_ns == 0 || apart < kSameStartNs;
}

class Joiner {
 public:
  // All of one trace, as far as the peak of the machine was in it.
  void add(const Trace& trace, bool has_peak);
  TraceBuilder& builder() { return builder_; }

 private:
  uint32_t task(const TraceTask& task);

  TraceBuilder builder_;
};

uint32_t Joiner::task(const TraceTask& task) {
  std::vector<TraceTask>& known = builder_.head().tasks;
  const auto same = std::find_if(
      known.begin(), known.end(),
      [&](const TraceTask& other) { return is_same(other, task); });
  if (same == known.end()) {
    TraceTask added = task;
    added.pages = 0;
    added.peak_pages = 0;
    added.is_peak_bound = false;
    return builder_.task(added);
  }
  // The later knows better what it is called.
  if (!task.name.empty()) same->name = task.name;
  if (!task.command_line.empty()) same->command_line = task.command_line;
  if (!task.cgroup.empty()) same->cgroup = task.cgroup;
  same->has_exited = task.has_exited;
  return static_cast<uint32_t>(same - known.begin());
}

void Joiner::add(const Trace& trace, bool has_peak) {
  std::vector<uint32_t> frames;
  for (const TraceFrame& frame : trace.frames)
    frames.push_back(builder_.frame(frame));
  std::vector<uint32_t> stacks;
  for (const TraceStack& stack : trace.stacks) {
    TraceStack ours;
    for (uint32_t frame : stack)
      ours.push_back(frames[frame]);
    stacks.push_back(builder_.stack(ours));
  }
  std::vector<uint32_t> tasks;
  for (const TraceTask& each : trace.tasks) {
    tasks.push_back(task(each));
    TraceTask& ours = builder_.task_at(tasks.back());
    ours.pages += each.pages;
    ours.is_peak_bound |=
        each.is_peak_bound || (ours.peak_pages != 0 && each.peak_pages != 0);
    ours.peak_pages += each.peak_pages;
  }
  for (const TraceLeaf& each : trace.leaves) {
    TraceLeaf& leaf = builder_.leaf(stacks[each.stack], tasks[each.task]);
    leaf.pages += each.pages;
    leaf.peak_pages += each.peak_pages;
    if (has_peak) leaf.machine_peak_pages += each.machine_peak_pages;
    leaf.allocation_count += each.allocation_count;
    leaf.held_ns = std::max(leaf.held_ns, each.held_ns);
  }
}

void add_modules(const std::vector<TraceModule>& more,
                 std::vector<TraceModule>& modules) {
  for (const TraceModule& module : more) {
    const auto same =
        std::ranges::find(modules, module.name, &TraceModule::name);
    if (same == modules.end()) {
      modules.push_back(module);
      continue;
    }
    same->image_bytes = std::max(same->image_bytes, module.image_bytes);
    same->was_loaded |= module.was_loaded;
    same->was_unloaded |= module.was_unloaded;
  }
}

void add_faults(const TraceFaults& more, TraceFaults& faults) {
  faults.lost_events += more.lost_events;
  faults.missed_events += more.missed_events;
  faults.untracked_freed += more.untracked_freed;
  faults.overwritten += more.overwritten;
  faults.out_of_range += more.out_of_range;
  faults.table_full += more.table_full;
  faults.unmatched_migrations += more.unmatched_migrations;
  faults.verified_stacks += more.verified_stacks;
  faults.wrong_stacks += more.wrong_stacks;
}

}  // namespace

Trace join_traces(const Trace& earlier, const Trace& later) {
  const bool is_peak_later = later.peak_realtime_ns != 0;
  Joiner joiner;
  // What the later has adopted stands in the earlier, also at a peak of its.
  joiner.add(earlier, true);
  joiner.add(later, is_peak_later);
  Trace joined = joiner.builder().finish();
  joined.backend = later.backend;
  joined.started_realtime_ns = earlier.started_realtime_ns;
  joined.elapsed_ns = later.started_realtime_ns + later.elapsed_ns -
                      earlier.started_realtime_ns;
  joined.page_size_bytes = later.page_size_bytes;
  joined.sample_period = later.sample_period;
  joined.kernel_bytes = later.kernel_bytes;
  joined.sees_bulk = later.sees_bulk;
  joined.pages = later.pages;
  joined.peak_pages = later.peak_pages;
  joined.peak_realtime_ns =
      is_peak_later ? later.peak_realtime_ns : earlier.peak_realtime_ns;
  joined.folded_pages = earlier.folded_pages;
  joined.faults = later.faults;
  add_faults(earlier.faults, joined.faults);
  joined.modules = later.modules;
  add_modules(earlier.modules, joined.modules);
  joined.notes = later.notes;
  for (const std::string& note : earlier.notes) {
    if (std::ranges::find(joined.notes, note) == joined.notes.end()) {
      joined.notes.push_back(note);
    }
  }
  return joined;
}

}  // namespace tidemark::model
