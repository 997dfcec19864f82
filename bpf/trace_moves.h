// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Pages that are moved keep their owners.
//
// Compaction gives a page another frame without an event of the allocator: the
// old one is given back, the new one was never taken. Whoever moves pages on
// request takes new ones with an event, as if for itself. What is told of both
// is that a mapping was replaced by a note which frame it was (set), and that
// note by a mapping of the new frame (remove); for huge pages by events of
// their own.
#pragma once

#include "trace_pages.h"

enum {
  kHugeFrames = 512,
};

// Pages on their way, from the unmapping of the old one to the mapping of the
// new one by the same thread.
struct tm_move {
  __u64 address;
  __u64 thread;
};

struct tm_way {
  __u64 old_frame;
  __u64 new_frame; /* 0: still on its way */
};

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 16384);
  __type(key, struct tm_move);
  __type(value, struct tm_way);
} moves SEC(".maps");

// How x86 writes a frame into a note: the bits are inverted and moved. Above
// the frame stand two bits about the page, where depends on the depth of the
// page tables.
static __always_inline __u64 frame_in_note(__u64 note, __u32 bits) {
  return ((~note << 5) >> 14) & ((1ULL << bits) - 1);
}

static __always_inline void note_old(__u64 address, __u64 note) {
  const struct tm_move move = {address, bpf_get_current_pid_tgid()};
  struct tm_way way = {frame_in_note(note, 40), 0};
  if (!entry_of(way.old_frame)) way.old_frame = frame_in_note(note, 34);
  bpf_map_update_elem(&moves, &move, &way, BPF_ANY);
}

// The walk is over those whom new frames are taken from; its `frame` is the
// first of the new ones.
struct tm_move_walk {
  struct tm_frame_walk walk;
  __u64 old_frame;
  __u64 moved_pages;
};

static long move_frame(__u32 index, void* context) {
  struct tm_move_walk* moved = context;
  const __u64 new_frame = moved->walk.frame + index;
  __u32* from = entry_of(moved->old_frame + index);
  __u32* to = entry_of(new_frame);
  __u32 owner;
  __u32 target_owner;
  if (!from || !to) return 0;
  owner = *from;
  // Mapped more than once: the first mapping has moved the owner already.
  if (owner == TM_FRAME_MOVED) return 0;
  target_owner = *to;
  *from = TM_FRAME_MOVED;
  *to = owner;
  if (owner && !is_sampled(new_frame)) has_strayed = 1;
  // Whoever moved it has not taken a page for itself. What was there before we
  // looked remains nobody's.
  if (has_owner(target_owner)) release(&moved->walk, target_owner);
  ++moved->moved_pages;
  return 0;
}

// Moves `frames` from where they were noted to be to the new frame.
static __always_inline void move_noted(__u64 address, __u64 new_frame,
                                       __u32 frames) {
  const struct tm_move move = {address, bpf_get_current_pid_tgid()};
  struct tm_way* way = bpf_map_lookup_elem(&moves, &move);
  struct tm_move_walk moved = {};
  // A process and its child have it at the same address: told twice, but done.
  if (way && way->new_frame == new_frame) return;
  if (!way || way->new_frame) {
    __sync_fetch_and_add(&faults.unmatched_moves, frames);
    return;
  }
  way->new_frame = new_frame;
  moved.old_frame = way->old_frame;
  moved.walk.frame = new_frame;
  if (moved.old_frame == new_frame) return;  // it stayed where it was
  bpf_loop(frames, move_frame, &moved, 0);
  end_run(&moved.walk);
  __sync_fetch_and_add(&faults.moved, moved.moved_pages);
}

SEC("raw_tp/set_migration_pte")
int on_unmap(struct bpf_raw_tracepoint_args* context) {
  if (is_on) note_old(context->args[0], context->args[1]);
  return 0;
}

SEC("raw_tp/remove_migration_pte")
int on_remap(struct bpf_raw_tracepoint_args* context) {
  const __u64 frame = (context->args[1] & 0x000ffffffffff000ULL) >> 12;
  if (is_on) move_noted(context->args[0], frame, 1);
  return 0;
}

SEC("raw_tp/set_migration_pmd")
int on_unmap_huge(struct bpf_raw_tracepoint_args* context) {
  if (is_on) note_old(context->args[0], context->args[1]);
  return 0;
}

// Below the frame stands a bit that says how it is cached.
SEC("raw_tp/remove_migration_pmd")
int on_remap_huge(struct bpf_raw_tracepoint_args* context) {
  const __u64 frame = (context->args[1] & 0x000fffffffe00000ULL) >> 12;
  if (is_on) move_noted(context->args[0], frame, kHugeFrames);
  return 0;
}
