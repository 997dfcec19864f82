// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Makes room in full tables: entries of tasks that have ended are given to
// others, those that hold nothing first. What they were counts on: the peaks of
// their nodes are added to the stack's, and so is what they held at the
// machine's peak.
//
// No page refers to a node without pages, and nobody looks for the nodes of a
// task that has ended; so an entry can be given away with no more than a swap
// of its key. An entry stays where it is, so that no chain of probes breaks. A
// task's entry can go before those of its nodes: they tell by the generation
// that they are of another. So it can also go when it has left pages behind (of
// files, of slabs): its nodes stay as long as they have some, and are those of
// nobody in particular who has ended.
#pragma once

#include "trace_tables.h"

enum {
  // After its last words a task still gives back what it has.
  kLingerNs = 200 * 1000 * 1000,
};

static __always_inline bool has_ended(const struct tm_trace_task* task) {
  return (task->flags & TM_TASK_EXITED) &&
         bpf_ktime_get_ns() - task->exited_ns > kLingerNs;
}

// Hands what a node has counted over to its stack.
static __always_inline void fold(struct tm_trace_node* node, __u64 key) {
  const __u32 index = (key >> 32) - 1;
  struct tm_trace_stack* stack = bpf_map_lookup_elem(&stacks, &index);
  if (!stack) return;
  __sync_fetch_and_add(&stack->folded_peak_pages, node->peak_pages);
  __sync_fetch_and_add(&stack->folded_allocation_count, node->allocation_count);
  if (node->epoch == machine.epoch && node->saved_pages) {
    if (stack->folded_epoch != machine.epoch) {
      stack->folded_epoch = machine.epoch;
      stack->folded_saved_pages = 0;
    }
    __sync_fetch_and_add(&stack->folded_saved_pages, node->saved_pages);
  }
}

static __always_inline void renew(struct tm_trace_node* node, __u64 old_key,
                                  __u32 generation) {
  fold(node, old_key);
  node->generation = generation;
  node->peak_pages = 0;
  node->allocation_count = 0;
  // As if it had never changed: at the machine's peak it held nothing.
  node->epoch = 0;
}

// Gives the entry of a node that is not needed any more to another; its number,
// or 0.
__noinline __u32 reuse_node(__u64 key, __u32 generation) {
  const __u64 hash = mixed(key);
  for (__u32 i = 0; i < kProbes; ++i) {
    const __u32 index = (hash + i) & node_mask;
    struct tm_trace_node* node = bpf_map_lookup_elem(&nodes, &index);
    const struct tm_trace_task* task;
    __u64 known;
    __u32 task_index;
    if (!node) return 0;
    if (*(volatile __s64*)&node->pages) continue;
    known = node->key;
    task_index = task_index_of(known);
    task = bpf_map_lookup_elem(&tasks, &task_index);
    if (!task) continue;
    if (task->generation == node->generation && !has_ended(task)) continue;
    if (__sync_val_compare_and_swap(&node->key, known, key) != known) continue;
    renew(node, known, generation);
    return index + 1;
  }
  return 0;
}

// Takes the entry from the task that has it; its number, or 0 when somebody was
// faster. What is given back at this very moment by the one that ended may
// still be taken from the sum of the next.
static __always_inline __u32 take_entry(__u32 index, __u64 known, __u64 key) {
  struct tm_trace_task* task = bpf_map_lookup_elem(&tasks, &index);
  if (!task) return 0;
  if (__sync_val_compare_and_swap(&task->key, known, key) != known) return 0;
  ++task->generation;
  task->flags = 0;
  task->pages = 0;
  task->peak_pages = 0;
  __sync_fetch_and_add(&folded_tasks, 1);
  return index + 1;
}

// The same of a task: one that holds nothing, else the one that holds least.
__noinline __u32 reuse_task(__u64 key) {
  __s64 least_pages = 0;
  __u64 least_key = 0;
  __u32 least = 0;
  for (__u32 i = 0; i < kProbes; ++i) {
    const __u32 index = (key + i) & task_mask;
    const struct tm_trace_task* task = bpf_map_lookup_elem(&tasks, &index);
    __s64 pages;
    if (!task) return 0;
    if (!has_ended(task)) continue;
    pages = *(volatile __s64*)&task->pages;
    if (least_key && pages >= least_pages) continue;
    least_pages = pages;
    least_key = task->key;
    least = index;
    if (!pages) break;
  }
  return least_key ? take_entry(least, least_key, key) : 0;
}
