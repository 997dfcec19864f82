// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Counters of an address space: what it holds now, and its maximum.
#pragma once

#include "tree_tables.h"

enum {
  kSwapMember = 2,  // counts what is not resident
  kMaximumTries = 8,
};

static __always_inline bool has_percpu_counters(void) {
  return !bpf_core_type_exists(struct mm_rss_stat);
}

// The two layouts are functions of their own: inlined, the compiler lifts the
// offset of one out of its branch, and the verifier meets an access that this
// kernel does not have.
static __noinline __s64 plain_count(const struct mm_struct* mm, __u32 member) {
  __s64 count = 0;
  bpf_probe_read_kernel(
      &count, sizeof(count),
      (const void*)mm +
          bpf_core_field_offset(struct mm_struct___counts, rss_stat) +
          member * sizeof(long));
  return count;
}

static __noinline __s64 shared_count(const struct mm_struct* mm, __u32 member) {
  __s64 count = 0;
  bpf_probe_read_kernel(
      &count, sizeof(count),
      (const void*)mm + bpf_core_field_offset(struct mm_struct, rss_stat) +
          member * bpf_core_type_size(struct percpu_counter) +
          bpf_core_field_offset(struct percpu_counter, count));
  return count;
}

// The part of a counter all CPUs share. It lags behind by less than a batch per
// CPU; up to 6.1 by less than 64 events per thread.
static __always_inline __s64 batched_count(const struct mm_struct* mm,
                                           __u32 member) {
  return has_percpu_counters() ? shared_count(mm, member)
                               : plain_count(mm, member);
}

static __noinline __s64 sum_of_cpus(const struct mm_struct* mm, __u32 member) {
  __s64 sum = 0;
  __u64 counters = 0;
  const void* counter;
  counter = (const void*)mm +
            bpf_core_field_offset(struct mm_struct, rss_stat) +
            member * bpf_core_type_size(struct percpu_counter) +
            bpf_core_field_offset(struct percpu_counter, counters);
  bpf_probe_read_kernel(&counters, sizeof(counters), counter);
  for (__u32 cpu = 0; cpu < TM_CPU_LIMIT; ++cpu) {
    __s32 part = 0;
    if (cpu >= cpu_count) break;
    bpf_probe_read_kernel(&part, sizeof(part),
                          (const void*)(counters + cpu_offset[cpu]));
    sum += part;
  }
  return sum;
}

// What the CPUs have not handed in yet.
static __always_inline __s64 percpu_part(const struct mm_struct* mm,
                                         __u32 member) {
  if (!has_percpu_counters() || !has_cpu_offsets) return 0;
  return sum_of_cpus(mm, member);
}

// Raises *highest to `value` and returns whether that was one. Several CPUs may
// try at once; who gives up after a few tries has lost to a higher one.
static __always_inline bool raise(__u64* highest, __u64 value) {
  for (int i = 0; i < kMaximumTries; ++i) {
    __u64 seen = *(volatile __u64*)highest;
    if (value <= seen) return false;
    if (__sync_val_compare_and_swap(highest, seen, value) == seen) return true;
  }
  return false;
}

static __always_inline void add_resident(__s64 pages) {
  __u64 now = __sync_fetch_and_add(&resident_pages, pages) + pages;
  if (pages > 0 && (__s64)now > 0 && raise(&highest_resident_pages, now)) {
    highest_resident_ns = bpf_ktime_get_ns();
  }
}

// Of a space of the tree.
static __always_inline void add_pages(const struct tm_space* space,
                                      __s64 pages) {
  add_resident(pages);
  if (space->is_outside) __sync_fetch_and_add(&outside_pages, pages);
}

// The compiler drops a mask whose need it does not see; the verifier wants it.
static __always_inline __u32 bounded(__u32 member) {
  barrier_var(member);
  return member & (TM_MEMBER_COUNT - 1);
}

// Sums one counter. By exchange, so that whatever two CPUs do at once, the
// total stays the sum of the members.
static __always_inline void sum_member(struct tm_space* space,
                                       const struct mm_struct* mm, __u32 member,
                                       __s64 batched) {
  __s64 now = batched + percpu_part(mm, member);
  __s64 delta;
  __u64 total;
  if (now < 0) now = 0;
  member = bounded(member);
  space->batched[member] = batched;
  delta = now - (__s64)__sync_lock_test_and_set(&space->pages[member], now);
  if (delta == 0) return;
  total = __sync_fetch_and_add(&space->total_pages, delta) + delta;
  raise(&space->peak_pages, total);
  add_pages(space, delta);
}

static __always_inline void sum_all(struct tm_space* space,
                                    const struct mm_struct* mm) {
  for (__u32 member = 0; member < TM_MEMBER_COUNT; ++member) {
    if (member == kSwapMember) continue;
    sum_member(space, mm, member, batched_count(mm, member));
  }
}
