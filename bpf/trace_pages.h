// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Books pages to nodes, and remembers for each frame whose it is.
#pragma once

#include "trace_tables.h"

// A function the verifier walks once, for any arguments: inlined, it would walk
// it for each number of pages a loop can count to.
__noinline int book(__u32 number, __s64 change) {
  const __u32 index = number - 1;
  struct tm_trace_node* node = bpf_map_lookup_elem(&nodes, &index);
  struct tm_trace_task* task;
  __u32 task_index;
  __s64 total;
  __s64 now;
  if (!node || !change) return 0;
  total = __sync_fetch_and_add(&machine.pages, change) + change;
  if (change > 0 && total > *(volatile __s64*)&machine.peak_pages) {
    raise_to(&machine.peak_pages, total);
    machine.peak_ns = bpf_ktime_get_ns();
    if (machine.has_changed_since_peak) {
      machine.has_changed_since_peak = 0;
      __sync_fetch_and_add(&machine.epoch, 1);
    }
  } else if (node->epoch != machine.epoch) {
    node->saved_pages = node->pages;
    node->epoch = machine.epoch;
    machine.has_changed_since_peak = 1;
  }
  now = __sync_fetch_and_add(&node->pages, change) + change;
  if (change > 0) {
    raise_to(&node->peak_pages, now);
    __sync_fetch_and_add(&node->allocation_count, 1);
    if (now == change) node->held_since_ns = bpf_ktime_get_ns();
  }
  task_index = task_index_of(node->key);
  task = bpf_map_lookup_elem(&tasks, &task_index);
  // What one has left behind whose entry another has now is no part of that.
  if (!task || task->generation != node->generation) return 0;
  now = __sync_fetch_and_add(&task->pages, change) + change;
  if (change > 0) raise_to(&task->peak_pages, now);
  return 0;
}

__noinline int note_untracked(__u64 pages) {
  if (pages) __sync_fetch_and_add(&faults.untracked_freed, pages);
  return 0;
}

// Pages with successive frames that belong to one node are booked together.
struct tm_frame_walk {
  __u64 frame;
  __u32 node; /* of those that follow */
  __u32 run_node;
  __s64 run_pages;
  __s64 taken_pages;
};

static __always_inline void end_run(struct tm_frame_walk* walk) {
  book(walk->run_node, -walk->run_pages);
  walk->run_pages = 0;
}

// Takes the frame from whoever had it.
static __always_inline void release(struct tm_frame_walk* walk, __u32 owner) {
  if (owner != walk->run_node) {
    end_run(walk);
    walk->run_node = owner;
  }
  ++walk->run_pages;
}

static long take_frame(__u32 index, void* context) {
  struct tm_frame_walk* walk = context;
  __u32* entry;
  __u32 before;
  if (!is_sampled(walk->frame + index)) return 0;
  entry = entry_of(walk->frame + index);
  if (!entry) {
    __sync_fetch_and_add(&faults.out_of_range, 1);
    return 0;
  }
  before = swap_entry(entry, walk->node);
  ++walk->taken_pages;
  if (!has_owner(before)) return 0;
  // Its free was missed.
  __sync_fetch_and_add(&faults.overwritten, 1);
  release(walk, before);
  return 0;
}

static long give_frame(__u32 index, void* context) {
  struct tm_frame_walk* walk = context;
  __u32* entry;
  __u32 before;
  if (!is_followed(walk->frame + index)) return 0;
  entry = entry_of(walk->frame + index);
  if (!entry) return 0;
  before = swap_entry(entry, takes_over ? TM_FRAME_GONE : 0);
  if (!before || before == TM_FRAME_GONE) {
    // Here: those that nobody was seen to take.
    if (is_sampled(walk->frame + index)) ++walk->taken_pages;
    return 0;
  }
  if (before != TM_FRAME_MOVED) release(walk, before);
  return 0;
}
