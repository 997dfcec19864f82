// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the programs of trace.bpf.c are told before they run, the tables they
// fill, and how a page finds its entry.
#pragma once

#include "common.h"
// The order matters: it needs the kernel's integer names.
#include "trace.h"

// --- set by user space before loading ---------------------------------------

const volatile __u32 section_count = 0;
const volatile __u32 stack_mask = 0;  // entries of the table, less one
const volatile __u32 task_mask = 0;
const volatile __u32 node_mask = 0;
const volatile __u32 sample_mask = 0;  // one frame in mask + 1
const volatile __u8 uses_signatures = 0;
// User space gives frames that are nobody's the owners it knows, meanwhile.
const volatile __u8 takes_over = 0;
const volatile __u32 range_count = 0;
const volatile struct tm_code_range ranges[TM_CODE_RANGES] = {};

// Filters; 0 or empty: all.
const volatile __u32 wanted_tgid = 0;  // and its descendants
const volatile __u8 filters_comm = 0;
const volatile char wanted_comm[16] = {};
const volatile __u64 wanted_cgroup = 0;
const volatile __u32 least_order = 0;
const volatile __u32 most_order = 64;
const volatile __u32 wanted_gfp = 0;  // all of these bits
const volatile __u32 unwanted_gfp = 0;
const volatile __u32 needed_meaning = 0;  // of a stack

// --- shared with user space while running ------------------------------------

__u32 is_on = 0;
__u64 page_array = 0;  // address of the struct of frame 0
__u32 page_struct_bytes = 64;
struct tm_trace_machine machine = {.epoch = 1};
struct tm_trace_faults faults = {};
__u64 allocation_count = 0;
__u64 free_count = 0;
__u64 folded_tasks = 0;  // whose entries others have now
__u32 has_strayed = 0;   // pages of a sample were moved to frames outside it

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);  // set before loading, as in all that follow
  __type(key, __u32);
  __type(value, __u32);  // number of its first chunk, counted from 1
} sections SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_frame_chunk);
  __uint(map_flags, BPF_F_MMAPABLE);
} chunks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_trace_stack);
} stacks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_trace_task);
} tasks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_trace_node);
} nodes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_trace_stack);
} unwound SEC(".maps");

// --- small things ------------------------------------------------------------

static __always_inline __u64 frame_of(__u64 page) {
  // A shift where it can be one: a division takes 20 cycles.
  if (page_struct_bytes == 64) return (page - page_array) >> 6;
  return (page - page_array) / page_struct_bytes;
}

// Nodes of two tasks that had one entry in turn have different keys.
static __always_inline __u64 node_key(__u32 stack, __u32 task,
                                      __u32 generation) {
  return (__u64)stack << 32 | (__u32)(generation << TM_TASK_BITS) | task;
}

static __always_inline __u32 task_index_of(__u64 key) {
  return (key & ((1 << TM_TASK_BITS) - 1)) - 1;
}

// Alloc and free agree on it, whatever happens between them.
static __always_inline bool is_sampled(__u64 frame) {
  return !sample_mask || ((mixed(frame) >> 8) & sample_mask) == 0;
}

// Whether the table may have an entry for the frame.
static __always_inline bool is_followed(__u64 frame) {
  return has_strayed || is_sampled(frame);
}

static __always_inline __u32* entry_of(__u64 frame) {
  const __u32 section = frame >> TM_SECTION_SHIFT;
  const __u32* first;
  __u32 number;
  struct tm_frame_chunk* chunk;
  if (frame >> TM_SECTION_SHIFT >= section_count) return 0;
  first = bpf_map_lookup_elem(&sections, &section);
  if (!first || !*first) return 0;
  number = *first - 1 + ((frame / TM_FRAMES_PER_CHUNK) % TM_CHUNKS_PER_SECTION);
  chunk = bpf_map_lookup_elem(&chunks, &number);
  if (!chunk) return 0;
  return &chunk->nodes[frame % TM_FRAMES_PER_CHUNK];
}

static __always_inline bool has_owner(__u32 entry) {
  return entry && entry < TM_FRAME_GONE;
}

// What stood in the entry before. User space fills entries that are 0 with a
// compare and swap, so that none of either side is lost.
static __always_inline __u32 swap_entry(__u32* entry, __u32 next) {
  __u32 before;
  if (takes_over) return __sync_lock_test_and_set(entry, next);
  before = *entry;
  *entry = next;
  return before;
}

// Where a stack with this hash is, or is to be from now on.
struct tm_stack_place {
  struct tm_trace_stack* stack; /* 0: the table is full */
  __u32 number;                 /* counted from 1 */
  bool is_new;                  /* nothing is in it but the hash */
};

static __always_inline struct tm_stack_place place_of_stack(__u64 hash) {
  struct tm_stack_place place = {};
  for (__u32 i = 0; i < kProbes; ++i) {
    const __u32 index = (hash + i) & stack_mask;
    struct tm_trace_stack* stack = bpf_map_lookup_elem(&stacks, &index);
    __u64 known;
    if (!stack) return place;
    known = stack->hash;
    if (!known) known = __sync_val_compare_and_swap(&stack->hash, 0, hash);
    if (known && known != hash) continue;
    place.stack = stack;
    place.number = index + 1;
    place.is_new = !known;
    return place;
  }
  __sync_fetch_and_add(&faults.stacks_full, 1);
  return place;
}
