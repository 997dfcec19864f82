// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Through what code: the stack of whoever runs, and its number in the table.
#pragma once

#include "stack_signature.h"
#include "trace_modules.h"
#include "trace_tables.h"

enum {
  // On top of each stack is the program, at wherever the compiler put the call.
  // Were a kernel to leave it out, what is passed over instead is the
  // tracepoint's and the same on all stacks.
  kOwnFrames = 1,
};

// A callback may only be handed what lies on the caller's stack.
struct tm_stack_walk {
  struct tm_trace_stack* stack;
};

static long note_meaning(__u32 index, void* context) {
  struct tm_trace_stack* stack = ((struct tm_stack_walk*)context)->stack;
  __u64 address;
  if (index >= TM_STACK_DEPTH || index >= stack->depth) return 1;
  address = stack->frames[index];
  for (__u32 i = 0; i < TM_CODE_RANGES; ++i) {
    if (i >= range_count) break;
    if (address >= ranges[i].first && address < ranges[i].last)
      stack->meaning |= ranges[i].meaning;
  }
  return 0;
}

// Returns the number of the stack, counted from 1. Part of the program that
// asks for it: a function of its own would be one more frame to unwind.
static __always_inline __u32 find_stack(void* context) {
  const __u32 zero = 0;
  struct tm_trace_stack* mine = bpf_map_lookup_elem(&unwound, &zero);
  struct tm_stack_walk walk;
  struct tm_stack_place place;
  __u64 hash = 0x9e3779b97f4a7c15;
  long bytes;
  if (!mine) return 0;
  bytes = bpf_get_stack(context, mine->frames, sizeof(mine->frames), 0);
  if (bytes <= 0) {
    __sync_fetch_and_add(&faults.no_stack, 1);
    return 0;
  }
  mine->depth = bytes / sizeof(mine->frames[0]);
  for (__u32 i = kOwnFrames; i < TM_STACK_DEPTH; ++i) {
    if (i >= mine->depth) break;
    hash = (hash ^ mine->frames[i]) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  hash = mixed(hash);
  if (!hash) hash = 1;
  place = place_of_stack(hash);
  if (!place.stack || !place.is_new) return place.number;
  bpf_probe_read_kernel(place.stack->frames, sizeof(place.stack->frames),
                        mine->frames);
  place.stack->depth = mine->depth;
  place.stack->seen_at = module_events;
  walk.stack = place.stack;
  bpf_loop(TM_STACK_DEPTH, note_meaning, &walk, 0);
  return place.number;
}

// --- stacks known again ------------------------------------------------------
// One in a thousand is unwound all the same, and what is wrong counted.

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, TM_SIGNATURES);
  __type(key, __u32);
  __type(value, struct tm_signature);
} signatures SEC(".maps");

enum {
  kVerifyEvery = 1024,
};

// As find_stack, which it calls for what it has not seen yet.
static __always_inline __u32 find_known_stack(void* context) {
  const __u32 zero = 0;
  struct tm_stack_copy* copy = bpf_map_lookup_elem(&stack_copies, &zero);
  struct tm_signature* known = 0;
  bool is_known = false;
  __u64 hash = 0;
  __u32 stack;
  if (uses_signatures && copy) hash = signature_of(copy);
  if (hash) {
    const __u32 index = hash % TM_SIGNATURES;
    known = bpf_map_lookup_elem(&signatures, &index);
    is_known = known && known->hash == hash;
    if (is_known && ++known->hit_count % kVerifyEvery != 0) return known->stack;
  }
  stack = find_stack(context);
  if (!known) return stack;
  if (is_known) {
    __sync_fetch_and_add(&faults.verified_signatures, 1);
    if (known->stack != stack)
      __sync_fetch_and_add(&faults.wrong_signatures, 1);
  }
  known->hash = stack ? hash : 0;
  known->stack = stack;
  return stack;
}
