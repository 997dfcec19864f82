/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the BPF programs hand to user space, included by both sides. Records
 * begin with their kind, have no padding and never shrink; numbers are in pages
 * and in CLOCK_MONOTONIC nanoseconds. */
#pragma once

#include <linux/types.h>

enum tm_record_kind {
  TM_RECORD_NEW_HIGH = 1,
  TM_RECORD_EXIT = 2,
};

enum {
  TM_COMM_BYTES = 16,
  TM_PATH_BYTES = 128,
  TM_CPU_LIMIT = 1024,
};

/* The height of the tree passed the mark that was set. */
struct tm_new_high {
  __u32 kind;
  __u32 stopped_pid; /* a SIGSTOP is on its way to it; 0 when none */
  __u64 time_ns;
  __u64 height_pages;
};

enum tm_process_flags {
  TM_PROCESS_HAS_EXECED = 1,   /* path is its own, not its parent's */
  TM_PROCESS_SHARES_SPACE = 2, /* lives in its parent's address space (vfork) */
  TM_PROCESS_WAS_THERE = 4,  /* ran before we looked: started_ns is not known */
  TM_PROCESS_IS_OUTSIDE = 8, /* another group is charged for it, */
  TM_PROCESS_HAS_LEFT = 16,  /* or was */
};

/* One process of the tree: alive in a map, as a record when it has ended. Pids
 * are those of the namespace tidemark runs in. */
struct tm_process {
  __u32 kind; /* TM_RECORD_EXIT */
  __u32 pid;
  __u32 parent_pid;
  __u32 flags;
  __u64 started_ns;
  __u64 ended_ns;
  __u64 space;      /* address of its mm; tells sharers apart, nothing else */
  __u64 peak_pages; /* of its last image */
  __u64 earlier_peak_pages; /* of the images it replaced by exec */
  __s32 exit_code;          /* as wait() gives it */
  __u32 image_count;        /* how often it called exec */
  char comm[TM_COMM_BYTES];
  char path[TM_PATH_BYTES]; /* as given to exec; cut without a sign */
};

enum { TM_MEMBER_COUNT = 4 }; /* file, anon, swap entries, shmem */

/* One address space of the tree. */
struct tm_space {
  __u64 pages[TM_MEMBER_COUNT]; /* as last summed */
  __u64 total_pages;
  __u64 peak_pages;
  __s64 batched[TM_MEMBER_COUNT]; /* the CPUs' shared part, as last seen */
  __u32 user_count;               /* processes that live in it */
  __u32 owner;                    /* tgid of the one it was made for */
  __u64 is_outside;               /* the tree's group is not charged for it */
};
