// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a record has of a stack: the kernel's as it was unwound, a program's as
// registers and a copy of its top, which user space unwinds.
#pragma once

#include "stack_signature.h"
#include "user_tables.h"

enum {
  kStackPointer = 19,  // among the registers
  kKnownStacks = 256,
  kVerifyEvery = 1024,
};

// Stacks of the kernel's that were unwound: nearly all pages are taken by the
// same few. Unwinding was three fifths of what a sample cost.
struct tm_user_known_stack {
  __u64 hash;
  __u64 hit_count;
  __u64 bytes;
  __u64 frames[TM_USER_KERNEL_DEPTH];
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, kKnownStacks);
  __type(key, __u32);
  __type(value, struct tm_user_known_stack);
} known_stacks SEC(".maps");

// Without a branch, which would be walked both ways at each. The rest of both
// is zero, and the first frame our own.
static __always_inline void verify(const struct tm_user_known_stack* known,
                                   const struct tm_user_taken* record) {
  __u64 difference = 0;
  for (__u32 i = 1; i < TM_USER_KERNEL_DEPTH; ++i)
    difference |= known->frames[i] ^ record->kernel[i];
  __sync_fetch_and_add(&faults.verified_stacks, 1);
  if (difference) __sync_fetch_and_add(&faults.wrong_stacks, 1);
}

// Returns its depth. Part of the function that asks for it: one of its own
// would be one more frame.
static __always_inline __u32 fill_kernel(void* context,
                                         struct tm_user_taken* record) {
  const __u32 zero = 0;
  struct tm_stack_copy* copy = bpf_map_lookup_elem(&stack_copies, &zero);
  struct tm_user_known_stack* known = 0;
  const __u64 hash = copy ? signature_of(copy) : 0;
  bool is_known = false;
  __u64 size;
  long bytes;
  if (hash) {
    const __u32 index = hash % kKnownStacks;
    known = bpf_map_lookup_elem(&known_stacks, &index);
    is_known = known && known->hash == hash;
    if (is_known && ++known->hit_count % kVerifyEvery != 0) {
      size = known->bytes;
      if (size <= sizeof(record->kernel) &&
          !bpf_probe_read_kernel(record->kernel, size, known->frames))
        return size / sizeof(record->kernel[0]);
    }
  }
  bytes = bpf_get_stack(context, record->kernel, sizeof(record->kernel), 0);
  if (bytes <= 0) return 0;
  if (known) {
    if (is_known) verify(known, record);
    known->hash = hash;
    known->bytes = bytes;
    bpf_probe_read_kernel(known->frames, sizeof(known->frames), record->kernel);
  }
  return bytes / sizeof(record->kernel[0]);
}

// In steps that end with a page where one ends: the stack does, and what is
// below may be what is being taken just now, which reads as the zeros it has.
static __always_inline void fill_stack(struct tm_user_taken* record, __u64 at,
                                       __u32 steps) {
  const __u64 first = -at % TM_USER_STEP_BYTES;
  bool has_begun =
      first && !bpf_probe_read_user(record->stack, first, (void*)at);
  __u64 bytes = first;
  for (__u32 i = 0; i + 1 < TM_USER_STEPS; ++i) {
    if (i + 1 >= steps) break;
    if (!bpf_probe_read_user(record->stack + first + i * TM_USER_STEP_BYTES,
                             TM_USER_STEP_BYTES,
                             (void*)(at + first + i * TM_USER_STEP_BYTES)))
      has_begun = true;
    else if (has_begun)
      break;
    bytes += TM_USER_STEP_BYTES;
  }
  record->stack_bytes = has_begun ? bytes : 0;
}

static __always_inline void fill_taken(void* context,
                                       struct tm_user_taken* record,
                                       __u32 steps) {
  struct task_struct* task = bpf_get_current_task_btf();
  const void* registers = (void*)bpf_task_pt_regs(task);
  record->kernel_depth = fill_kernel(context, record);
  record->stack_bytes = 0;
  record->space = TM_USER_NO_SPACE;
  if (!task->mm) return;
  /* While a program is being loaded, the registers are still those of the one
   * before it, whose memory is gone. */
  if (task->mm->arg_end == 0) {
    record->space = TM_USER_NEW_SPACE;
    return;
  }
  if (bpf_probe_read_kernel(record->registers, sizeof(record->registers),
                            registers))
    return;
  record->space = TM_USER_SPACE;
  fill_stack(record, record->registers[kStackPointer], steps);
}
