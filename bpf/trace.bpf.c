// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Follows every page from the allocator and back to it.
//
// Each allocation is booked to a node, which is a stack and a task; a table
// with an entry for every page frame remembers the node, and the free finds it
// there. Events of one frame never overlap (the allocator's locks lie between
// them), so its entry needs no lock. Nothing is sent to user space: it reads
// the tables when it likes to.
//
// The tree as it stood at the machine's peak costs a compare for each event:
// as long as the machine is at its peak, nodes need no note of it; the first
// change of a node after a peak saves what it was (epoch says which peak).
#include "trace_tables.h"
// The order matters: it brings the helpers.
#include "known_page.h"
#include "trace_moves.h"
#include "trace_owner.h"
#include "trace_pages.h"
#include "trace_silent.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum {
  // Huge pages of 1 GiB are given back as one block of order 18.
  kMostOrder = 20,
};

// --- where the structs of pages begin ----------------------------------------

struct tm_known_page known = {};

SEC("syscall")
int look_around(void* context) {
  known.page_struct_bytes = bpf_core_type_size(struct page);
  known.address = first_page_of(known.fd);
  return 0;
}

// --- events ------------------------------------------------------------------

SEC("raw_tp/mm_page_alloc")
int on_alloc(struct bpf_raw_tracepoint_args* context) {
  struct tm_frame_walk walk = {};
  const __u64 page = context->args[0];
  const __u32 order = context->args[1];
  if (!is_on || !page || order > kMostOrder) return 0;
  if (!is_asked_for(order, context->args[2])) return 0;
  walk.frame = frame_of(page);
  if (order == 0 && !is_sampled(walk.frame)) return 0;
  walk.node = find_owner(context);
  if (!walk.node) return 0;
  if (order == 0) {
    take_frame(0, &walk);
  } else {
    bpf_loop(1U << order, take_frame, &walk, 0);
  }
  end_run(&walk);
  book(walk.node, walk.taken_pages);
  return 0;
}

SEC("raw_tp/mm_page_free")
int on_free(struct bpf_raw_tracepoint_args* context) {
  struct tm_frame_walk walk = {};
  const __u64 page = context->args[0];
  const __u32 order = context->args[1];
  if (!is_on || !page || order > kMostOrder) return 0;
  walk.frame = frame_of(page);
  if (order == 0) {
    if (!is_followed(walk.frame)) return 0;
    give_frame(0, &walk);
  } else {
    bpf_loop(1U << order, give_frame, &walk, 0);
  }
  end_run(&walk);
  note_untracked(walk.taken_pages);
  return 0;
}

// --- names -------------------------------------------------------------------

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args* context) {
  const struct task_struct* task = bpf_get_current_task_btf();
  const __u32 number = find_task(0);
  const __u32 index = number - 1;
  struct tm_trace_task* entry;
  const struct mm_struct* mm;
  __u64 first;
  __u64 size;
  if (!number || !is_on) return 0;
  entry = bpf_map_lookup_elem(&tasks, &index);
  if (!entry) return 0;
  fill_task(task, entry);
  mm = BPF_CORE_READ(task, mm);
  first = BPF_CORE_READ(mm, arg_start);
  size = BPF_CORE_READ(mm, arg_end) - first;
  if (size > TM_COMMAND_BYTES) size = TM_COMMAND_BYTES;
  __builtin_memset(entry->command, 0, sizeof(entry->command));
  if (!bpf_probe_read_user(entry->command, size, (void*)first))
    entry->flags |= TM_TASK_HAS_COMMAND;
  return 0;
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args* context) {
  const struct task_struct* task = bpf_get_current_task_btf();
  struct tm_trace_task* entry;
  __u32 number;
  __u32 index;
  if (!is_on || BPF_CORE_READ(task, signal, live.counter) > 0) return 0;
  number = find_task(0);
  index = number - 1;
  entry = bpf_map_lookup_elem(&tasks, &index);
  if (!entry) return 0;
  entry->exited_ns = bpf_ktime_get_ns();
  entry->flags |= TM_TASK_EXITED;
  return 0;
}
