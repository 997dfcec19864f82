/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What several programs need. */
#pragma once

#include "kernel_types.h"
/* The order matters: the helpers need the types. */
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

enum {
  kProbes = 16,
  kTries = 4,
  kAncestors = 32,
};

static __always_inline __u64 mixed(__u64 value) {
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93;
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93;
  return value ^ (value >> 32);
}

static __always_inline void raise_to(__s64* peak, __s64 value) {
  for (int i = 0; i < kTries; ++i) {
    const __s64 known = *(volatile __s64*)peak;
    if (value <= known) return;
    if (__sync_val_compare_and_swap(peak, known, value) == known) return;
  }
}

static __always_inline bool descends(const struct task_struct* task,
                                     __u32 ancestor) {
  for (int i = 0; i < kAncestors; ++i) {
    const __u32 tgid = BPF_CORE_READ(task, tgid);
    if (tgid == ancestor) return true;
    if (tgid <= 1) return false;
    task = BPF_CORE_READ(task, real_parent);
  }
  return false;
}
