// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What user.bpf.c shares with user space, and remembers.
#pragma once

#include "known_page.h"
#include "user.h"

// --- set by user space before loading ---------------------------------------

const volatile __u32 section_count = 0;
const volatile __u32 least_shift = 6;  // one page in 2^6 when there is time

// --- shared with user space while running ------------------------------------

// What is asked of every page of the machine lies in one cache line.
__u64 highest_sampled __attribute__((aligned(64))) = 0;  // hash of one
__u64 page_array = 0;  // address of the struct of frame 0
__u32 has_blocks = 0;  // some granule has marks of blocks
__u32 is_on = 0;
// Granules with marks of blocks in them. Their pages may be given back one by
// one, and of those the sample says nothing. So small that it stays in a cache.
__u64 block_granules[TM_USER_GRANULE_WORDS] __attribute__((aligned(64))) = {};
__u64 samples_per_second = 4000;  // as user space can unwind
__s64 allowance = 4000;           // samples that may be told of now
__u64 allowance_ns = 0;
__u64 woken_ns = 0;    // when whoever reads was woken last
__u32 is_awaited = 0;  // something was too soon after that
struct tm_user_faults faults = {};
// Not in a cache line that all read.
struct tm_user_density density __attribute__((aligned(64))) = {};
struct tm_known_page known = {};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, TM_USER_PROCESSES);
  __type(key, __u32);
  __type(value, struct tm_user_process);
} followed SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);  // set before loading
  __type(key, __u32);
  __type(value, struct tm_user_marks);
} marks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, TM_USER_RING_BYTES);
} records SEC(".maps");
