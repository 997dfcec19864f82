/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/user.bpf.c and user space say to each other. Every record begins
 * with its kind; they come in the order in which they happened. */
#pragma once

#include <linux/types.h>

enum {
  TM_USER_STACK_BYTES = 8192,
  /* The stack is read in such steps: one large read fails as a whole where the
   * stack ends. */
  TM_USER_STEP_BYTES = 1024,
  TM_USER_STEPS = TM_USER_STACK_BYTES / TM_USER_STEP_BYTES,
  /* One sample in so many has all steps, to learn whether more are needed. */
  TM_USER_WHOLE_EVERY = 16,
  TM_USER_REGISTERS = 21, /* struct pt_regs of x86-64 */
  TM_USER_KERNEL_DEPTH = 64,
  TM_USER_COMMAND_BYTES = 240,
  TM_USER_PROCESSES = 16384,
  /* Frames whose marks lie together, and the words they take. */
  TM_USER_SECTION_SHIFT = 15,
  TM_USER_WORDS = (1 << TM_USER_SECTION_SHIFT) / 64,
  /* 2 MiB of frames, and of how many sections those with marks of blocks are
   * named each by a bit of its own: of 128 GiB. */
  TM_USER_GRANULE_SHIFT = TM_USER_SECTION_SHIFT - 6,
  TM_USER_GRANULE_WORDS = 1024,
  TM_USER_RING_BYTES = 16 << 20,
  /* How much rarer than asked for pages may be sampled: 2^10 times. */
  TM_USER_MOST_RARER = 10,
};

enum tm_user_kind {
  TM_USER_TAKEN = 1,
  TM_USER_GIVEN = 2,
  TM_USER_FORKED = 3,
  TM_USER_EXECED = 4,
  TM_USER_EXITED = 5,
};

/* Marks of frames that are followed. */
struct tm_user_marks {
  __u64 words[TM_USER_WORDS];
};

/* A process that is followed. */
struct tm_user_process {
  __u64 sample_count;
  /* How much of its stacks is worth copying, as user space has found out. */
  __u32 stack_steps;
  __u32 reserved;
};

enum tm_user_space {
  TM_USER_NO_SPACE, /* it has no memory of its own, or none any more */
  TM_USER_SPACE,
  TM_USER_NEW_SPACE, /* of a program that was not yet begun */
};

/* A block of 2^order pages, and who took it. Each of them stands for 2^weight
 * pages. */
struct tm_user_taken {
  __u32 kind;
  __u32 tgid;
  __u32 tid;
  __u8 order;
  __u8 weight;
  __u8 space; /* enum tm_user_space */
  __u8 reserved;
  __u64 frame;
  __u64 time_ns;
  __u32 kernel_depth;
  __u32 stack_bytes;
  __u64 registers[TM_USER_REGISTERS];
  __u64 kernel[TM_USER_KERNEL_DEPTH];
  __u8 stack[TM_USER_STACK_BYTES];
};

/* Up to 64 frames from a multiple of 64 on. */
struct tm_user_given {
  __u32 kind;
  __u32 reserved;
  __u64 frame;
  __u64 bits;
};

struct tm_user_life {
  __u32 kind;
  __u32 tgid;
  __u32 parent; /* of a fork */
  __u32 command_bytes;
  __u64 time_ns;
  char comm[16];
  char command[TM_USER_COMMAND_BYTES]; /* arguments, each with a zero behind */
};

/* Pages that were taken, as the densest sample tells, and for how many each
 * stood when it was: weights / pages is that of all. */
struct tm_user_density {
  __u64 pages;
  __u64 weights;
};

struct tm_user_faults {
  __u64 lost_pages;   /* taken, when there was no room for a record */
  __u64 lost_records; /* of all other kinds */
  __u64 out_of_range;
  __u64 processes_full;
  __u64 verified_stacks; /* of the kernel's: known again, and unwound as well */
  __u64 wrong_stacks;
};
