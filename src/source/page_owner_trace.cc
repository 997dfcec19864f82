#include "source/page_owner_trace.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/page_size.h"
#include "base/units.h"

namespace tidemark::source {
namespace {

using model::PageOwnerRecord;

constexpr size_t kKeptFrames = 16;  // that the kernel keeps of a stack

model::TraceTask nobodys_task() {
  model::TraceTask task;
  task.name = "not told by task";
  return task;
}

std::string counted(uint64_t count, std::string_view one,
                    std::string_view what) {
  return base::grouped(count) + " " + std::string(one) +
         (count == 1 ? " " : "s ") + std::string(what);
}

}  // namespace

PageOwnerTraceMaker::PageOwnerTraceMaker(uint64_t realtime_ns) {
  model::Trace& head = builder_.head();
  head.backend = model::TraceBackend::PageOwner;
  head.started_realtime_ns = realtime_ns;
  head.page_size_bytes = base::page_bytes();
  head.has_peaks = false;
}

const PageOwnerTraceMaker::Stack& PageOwnerTraceMaker::stack_of(
    std::string_view text) {
  const auto known = stacks_.find(text);
  if (known != stacks_.end()) return known->second;
  frames_.clear();
  std::string_view rest = text;
  while (std::optional<parse::StackFrame> frame =
             parse::take_stack_frame(rest)) {
    frames_.push_back(
        builder_.frame({frame->address, std::string(frame->symbol),
                        frame->offset, std::string(frame->module)}));
  }
  has_cut_stack_ = has_cut_stack_ || frames_.size() >= kKeptFrames;
  const Stack stack{builder_.stack(frames_), model::stack_traits(text)};
  return stacks_.try_emplace(std::string(text), stack).first->second;
}

uint32_t PageOwnerTraceMaker::task_of(const PageOwnerRecord& record) {
  const std::optional<int32_t> pid = record.tgid ? record.tgid : record.pid;
  task_key_.assign(pid ? std::to_string(*pid) : "-").append(1, ' ');
  task_key_.append(record.comm);
  const auto known = tasks_.find(task_key_);
  if (known != tasks_.end()) return known->second;
  model::TraceTask task = nobodys_task();
  if (pid) {
    task.pid = *pid;
    task.name = record.comm;
  }
  const uint32_t index = builder_.task(task);
  tasks_.try_emplace(task_key_, index);
  return index;
}

model::TraceLeaf& PageOwnerTraceMaker::hold(uint32_t stack, uint32_t task,
                                            uint64_t pages) {
  model::TraceLeaf& leaf = builder_.leaf(stack, task);
  leaf.pages += pages;
  builder_.task_at(task).pages += pages;
  builder_.head().pages += pages;
  return leaf;
}

void PageOwnerTraceMaker::add(const PageOwnerRecord& record) {
  const Stack& stack = stack_of(record.stack);
  totals_.add(record, stack.traits);
  model::TraceLeaf& leaf = hold(stack.index, task_of(record), record.pages());
  ++leaf.allocation_count;
  const uint64_t since_ns = record.taken_ns.value_or(0);
  if (since_ns == 0) return;
  newest_ns_ = std::max(newest_ns_, since_ns);
  // The time of the oldest page until it is known when the dump was made.
  if (leaf.held_ns == 0 || since_ns < leaf.held_ns) leaf.held_ns = since_ns;
}

// A dump does not say when it was made; its newest page was there by then.
void PageOwnerTraceMaker::turn_times_into_ages(model::Trace& trace) const {
  for (model::TraceLeaf& leaf : trace.leaves) {
    if (leaf.held_ns != 0) leaf.held_ns = newest_ns_ - leaf.held_ns;
  }
}

void PageOwnerTraceMaker::add(const model::PageOwnerStack& stack) {
  if (!stack.pages && !stack.blocks) return;
  // A block has at least one page.
  const uint64_t pages = stack.pages ? *stack.pages : *stack.blocks;
  counts_blocks_ = counts_blocks_ || !stack.pages;
  const Stack& known = stack_of(stack.stack);
  ++totals_.records;
  totals_.pages += pages;
  if (known.traits.is_slab) totals_.slab_pages += pages;
  hold(known.index, builder_.task(nobodys_task()), pages);
}

void PageOwnerTraceMaker::note(std::string text) {
  builder_.head().notes.push_back(std::move(text));
}

void PageOwnerTraceMaker::add_page_notes() {
  const std::pair<uint64_t, std::string_view> kinds[] = {
      {totals_.slab_pages, "of slabs"},
      {totals_.charged_pages, "charged to a memory group"},
      {totals_.migrated_pages, "moved since taken"},
      {totals_.early_pages,
       "taken before page_owner was ready: register_early_stack"},
      {totals_.nested_pages,
       "taken while a stack was being noted: register_dummy_stack"},
      {totals_.failed_pages,
       "without a stack, for want of memory to note it: "
       "register_failure_stack"},
  };
  for (const auto& [pages, what] : kinds) {
    if (pages > 0) note(counted(pages, "page", what));
  }
  if (counts_blocks_) {
    note("this kernel counts blocks here: there are at least so many pages");
  }
  if (has_cut_stack_) {
    note(
        "page_owner keeps the 16 innermost frames: longer stacks lack the way "
        "in");
  }
}

void PageOwnerTraceMaker::add_fault_notes() {
  if (totals_.broken_records > 0) {
    note(counted(totals_.broken_records, "record",
                 "cut off or unreadable, left out"));
  }
  if (totals_.stray_lines > 0) {
    note(counted(totals_.stray_lines, "line", "of no record"));
  }
}

PageOwnerTrace PageOwnerTraceMaker::finish(
    const parse::PageOwnerFaults& faults) {
  totals_.broken_records = faults.broken_records;
  totals_.stray_lines = faults.stray_lines;
  add_page_notes();
  add_fault_notes();
  PageOwnerTrace made = {builder_.finish(), totals_};
  turn_times_into_ages(made.trace);
  return made;
}

}  // namespace tidemark::source
