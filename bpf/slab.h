/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/slab.bpf.c and user space say to each other. */
#pragma once

#include <linux/types.h>

enum {
  TM_SLAB_SITES = 8192, /* a power of two */
  TM_SLAB_SLOTS = 8,    /* objects of one set */
  TM_CACHE_NAME = 40,
};

/* One cache and one place in the code that takes from it. */
struct tm_slab_site {
  __u64 key;       /* 0: the entry is free */
  __u64 cache;     /* its address, or what kmalloc gives for one object */
  __u64 call_site; /* where the call returns to */
  __s64 bytes;
  __s64 peak_bytes;
  __s64 objects;
  __u64 allocation_count;
  __u64 untold_count; /* objects whose return was not told, only seen later */
  char name[TM_CACHE_NAME]; /* of the cache; empty: kmalloc's */
};

struct tm_slab_object {
  __u64 address; /* 0: the slot is free */
  __u32 site;    /* counted from 1 */
  __u32 bytes;
};

struct tm_slab_set {
  struct tm_slab_object slots[TM_SLAB_SLOTS];
};

struct tm_slab_total {
  __s64 bytes;
  __s64 peak_bytes;
};

struct tm_slab_faults {
  __u64 sites_full;
  __u64 objects_full;
  __u64 overwritten;     /* taken again, their return was not told */
  __u64 untracked_freed; /* given back, never seen taken */
};
