/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's types as far as our programs read them, by hand: the loader
 * moves every access to where the running kernel has the field (CO-RE), so only
 * names and types count here, neither order nor completeness. A generated
 * vmlinux.h would be three megabytes of one kernel. A type that changed its
 * shape appears twice, the older one with ___ and a word, which the loader cuts
 * off. */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), \
                             apply_to = record)

typedef struct {
  int counter;
} atomic_t;

typedef struct {
  long counter;
} atomic_long_t;

/* --- counters of an address space ---------------------------------------- */

struct percpu_counter {
  __s64 count;
  __s32* counters; /* per CPU */
};

/* Up to 6.1: plain counters, fed from every task's own cache of 64 events. */
struct mm_rss_stat {
  atomic_long_t count[4];
};

struct mm_struct {
  struct percpu_counter rss_stat[4];
};

struct mm_struct___counts {
  struct mm_rss_stat rss_stat;
};

/* --- control groups ------------------------------------------------------- */

enum cgroup_subsys_id {
  memory_cgrp_id = 4, /* the loader puts in the running kernel's number */
};

struct cgroup_subsys_state;

struct css_set {
  struct cgroup_subsys_state* subsys[16];
};

struct page_counter {
  atomic_long_t usage;
};

struct mem_cgroup {
  struct page_counter memory;
};

/* --- tasks -----------------------------------------------------------------
 */

struct upid {
  int nr;
};

struct pid {
  unsigned int level;
  struct upid numbers[1];
};

struct signal_struct {
  atomic_t live;
  int group_exit_code;
  unsigned int flags;
};

struct task_struct {
  int pid;
  int tgid;
  int exit_code;
  char comm[16];
  struct mm_struct* mm;
  struct task_struct* group_leader;
  struct signal_struct* signal;
  struct css_set* cgroups;
  struct pid* thread_pid;
};

struct linux_binprm {
  const char* filename;
};

/* --- BPF's own -------------------------------------------------------------
 */

struct bpf_array {
  void* pptrs[0];
};

struct bpf_iter_meta {
  __u64 seq_num;
};

struct bpf_iter__task {
  struct bpf_iter_meta* meta;
  struct task_struct* task;
};

#pragma clang attribute pop
