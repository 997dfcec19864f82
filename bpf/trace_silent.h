// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Pages that are handed out without an event: those of the bulk allocator and
// of contiguous ranges. Seen where a program may run when a kernel function
// returns; elsewhere all there is of them are frees of pages that nobody was
// seen to take.
#pragma once

#include "trace_owner.h"
#include "trace_pages.h"

struct tm_array_walk {
  struct tm_frame_walk walk;
  __u64 pages; /* address of the first of the pointers to page structs */
};

// What the bulk allocator could not get at once it gets with an event, and what
// stood in the array before the call is counted with the rest; so only frames
// that are nobody's are taken.
static long take_unowned(__u64 frame, struct tm_frame_walk* walk) {
  __u32* entry;
  if (!is_sampled(frame)) return 0;
  entry = entry_of(frame);
  if (!entry) {
    __sync_fetch_and_add(&faults.out_of_range, 1);
    return 0;
  }
  if (has_owner(*entry)) return 0;
  *entry = walk->node;
  ++walk->taken_pages;
  return 0;
}

static long take_listed(__u32 index, void* context) {
  struct tm_array_walk* list = context;
  __u64 page = 0;
  if (bpf_probe_read_kernel(&page, sizeof(page), (__u64*)list->pages + index))
    return 1;
  if (!page) return 0;
  return take_unowned(frame_of(page), &list->walk);
}

static long take_in_range(__u32 index, void* context) {
  struct tm_frame_walk* walk = context;
  return take_unowned(walk->frame + index, walk);
}

// (gfp, node, nodes, count, array) and how many of the array are filled. Before
// 6.14 a list stands before the array, which nobody uses. The verifier lets no
// pointer to pointers be read from the context.
SEC("?fexit/alloc_pages_bulk_noprof")
int on_bulk(__u64* context) {
  const __u32 last = bpf_get_func_arg_cnt(context) - 1;
  struct tm_array_walk list = {};
  __u64 count = 0;
  if (!is_on || !is_asked_for(0, context[0])) return 0;
  if (bpf_get_func_arg(context, last, &list.pages)) return 0;
  if (bpf_get_func_ret(context, &count) || !list.pages || !count) return 0;
  list.walk.node = find_owner(context);
  if (!list.walk.node) return 0;
  bpf_loop(count, take_listed, &list, 0);
  book(list.walk.node, list.walk.taken_pages);
  return 0;
}

// (first frame, the one behind the last, kind, gfp), and 0 when it succeeded.
SEC("?fexit/alloc_contig_range_noprof")
int on_range(__u64* context) {
  struct tm_frame_walk walk = {};
  const __u64 count = context[1] - context[0];
  if (!is_on || (__s32)context[4] != 0 || !is_asked_for(0, context[3]))
    return 0;
  walk.frame = context[0];
  walk.node = find_owner(context);
  if (!walk.node) return 0;
  bpf_loop(count, take_in_range, &walk, 0);
  book(walk.node, walk.taken_pages);
  return 0;
}
