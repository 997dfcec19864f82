/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/trace.bpf.c and user space say to each other. All tables are mapped
 * into user space, which reads them as they are. */
#pragma once

#include <linux/types.h>

enum {
  TM_STACK_DEPTH = 64,
  TM_CODE_RANGES = 32,
  TM_COMMAND_BYTES = 240,
  TM_SIGNATURES = 8192, /* for each CPU */
  TM_FRAMES_PER_CHUNK = 1024,
  /* Frames of one entry of the table of sections: 128 MiB. */
  TM_SECTION_SHIFT = 15,
  TM_CHUNKS_PER_SECTION = (1 << TM_SECTION_SHIFT) / TM_FRAMES_PER_CHUNK,
  /* Of the lower half of a node's key: the task's number. Above it stand the
   * lower bits of its generation. */
  TM_TASK_BITS = 20,
};

/* What is known of an entry for a page frame besides the number of a node,
 * which is counted from 1 so that 0 says nothing is known. */
enum {
  TM_FRAME_MOVED = 0xffffffff, /* its owner has another page now */
  /* It was given back since we count, so what others know of it is old. */
  TM_FRAME_GONE = 0xfffffffe,
};

/* Nodes behind those that programs look for: what another means has booked
 * before us, filled in by user space. They have no key. */
enum {
  TM_ADOPTED_NODES = 4096,
};

struct tm_frame_chunk {
  __u32 nodes[TM_FRAMES_PER_CHUNK];
};

/* Kernel code that says something about the stacks it is on. */
enum tm_code_meaning {
  TM_CODE_INTERRUPT = 1, /* not for the task that runs */
  TM_CODE_WANTED = 2,    /* only stacks with such code are asked for */
  TM_CODE_LOADING = 4,   /* a module is loaded */
  TM_CODE_INIT = 8,      /* the kernel has told of it by now */
};

struct tm_code_range {
  __u64 first;
  __u64 last; /* the first address behind it */
  __u64 meaning;
};

struct tm_trace_stack {
  __u64 hash; /* 0: the entry is free */
  __u32 meaning;
  __u32 depth;
  __u32 load;    /* the module that is loaded, counted from 1; 0: not known */
  __u32 base;    /* the stack with the frames of this one; 0: they are here */
  __u32 seen_at; /* how many modules had come and gone by then */
  __u32 reserved;
  /* Of nodes whose entries others have now: their peaks, each at its own time,
   * and what they held at the machine's peak, if the epoch is the machine's. */
  __s64 folded_peak_pages;
  __s64 folded_saved_pages;
  __u64 folded_epoch;
  __u64 folded_allocation_count;
  __u64 frames[TM_STACK_DEPTH];
};

enum tm_trace_task_flags {
  TM_TASK_KERNEL = 1,
  TM_TASK_EXITED = 2,
  TM_TASK_UNWANTED = 4, /* a filter leaves it out */
  TM_TASK_INTERRUPT = 8,
  TM_TASK_HAS_COMMAND = 16,
  TM_TASK_FILLED = 32, /* the others say what they mean */
};

/* A thread group in one control group, or all interrupts together. */
struct tm_trace_task {
  __u64 key; /* 0: the entry is free */
  __s64 pages;
  __s64 peak_pages;
  __u64 start_ns; /* of the group's first thread, since boot */
  __u64 cgroup;   /* inode of its directory; 0: not known */
  __u64 exited_ns;
  __u32 tgid;
  __u32 flags;
  __u32 generation; /* how many had this entry before */
  __u32 reserved;
  char comm[16];
  char command[TM_COMMAND_BYTES]; /* its arguments, each with a zero behind */
};

/* What one task holds through one stack. */
struct tm_trace_node {
  /* Stack and, by TM_TASK_BITS, task, each counted from 1; 0: it is free. */
  __u64 key;
  __s64 pages;
  __s64 peak_pages;
  __s64 saved_pages; /* at the machine's peak, if the epoch is the machine's */
  __u64 epoch;
  __u64 allocation_count;
  __u64 held_since_ns;
  __u32 generation; /* of the task's entry when this was made */
  __u32 reserved;
};

/* A stack that was seen before, known again by the return addresses that lie on
 * the kernel's stack. */
struct tm_signature {
  __u64 hash;
  __u32 stack; /* counted from 1 */
  __u32 hit_count;
};

struct tm_trace_machine {
  __s64 pages;
  __s64 peak_pages;
  __u64 peak_ns;
  __u64 epoch; /* of the peak; begins with 1 */
  __u32 has_changed_since_peak;
  __u32 reserved;
};

struct tm_trace_faults {
  __u64 untracked_freed;
  __u64 overwritten;
  __u64 out_of_range;
  __u64 stacks_full;
  __u64 tasks_full;
  __u64 nodes_full;
  __u64 no_stack; /* allocations whose stack could not be told */
  __u64 moved;
  __u64 unmatched_moves;
  __u64 verified_signatures;
  __u64 wrong_signatures;
};
