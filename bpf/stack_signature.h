// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How a stack of the kernel's is known again without unwinding it, which costs
// more than everything else together. What unwinding finds is decided by the
// return addresses on the stack; so all words there that can be some are
// hashed, and a stack with the same hash is the same. Words that only look like
// return addresses, left by earlier calls, make two of one stack and never one
// of two.
#pragma once

#include "common.h"

enum {
  kSignatureWords = 320,
};

struct tm_stack_copy {
  __u64 pointer;
  __u64 bottom;
  __u64 words[kSignatureWords];
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_stack_copy);
} stack_copies SEC(".maps");

enum {
  kThreadBytes = 16384,
  // The registers of user space lie on top, and may be anything.
  kRegisterBytes = 192,
};
// Kernel code, modules and BPF programs: the top 2 GiB of all addresses.
#define FIRST_CODE_ADDRESS 0xffffffff80000000ULL

// Where the stack is now. A function of its own that needs next to no stack:
// since 6.13 larger programs are given one that is not the kernel's.
static __noinline int note_stack_pointer(struct tm_stack_copy* copy) {
  __u64 here = 0;
  __u64* volatile at = &here;
  copy->pointer = (__u64)at;
  return 0;
}

// Hash of the stack's return addresses; 0 when it cannot be told.
static __noinline __u64 signature_of(struct tm_stack_copy* copy) {
  const struct task_struct* task = bpf_get_current_task_btf();
  __u64 hash = 0x9e3779b97f4a7c15;
  __u64 bottom;
  __u64 size;
  note_stack_pointer(copy);
  // Through the map: the verifier lets no pointer be reckoned with.
  copy->bottom = (__u64)task->stack;
  bottom = *(volatile __u64*)&copy->bottom;
  if (copy->pointer <= bottom) return 0;
  size = bottom + kThreadBytes - kRegisterBytes - copy->pointer;
  if (size > sizeof(copy->words)) return 0;  // also when it is not this stack
  if (bpf_probe_read_kernel(copy->words, size, (void*)copy->pointer)) return 0;
  for (__u32 i = 0; i < kSignatureWords; ++i) {
    if (i * 8 >= size) break;
    if (copy->words[i] < FIRST_CODE_ADDRESS) continue;
    hash = (hash ^ copy->words[i]) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  hash = mixed(hash);
  return hash ? hash : 1;
}
