// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// For whom: the task that runs, whether it is asked for, and its number in the
// table.
#pragma once

#include "trace_reuse.h"
#include "trace_tables.h"

enum {
  kKernelThread = 0x00200000,  // PF_KTHREAD
};

static __always_inline __u64 cgroup_of(const struct task_struct* task) {
  const struct css_set* set = task->cgroups;
  const struct cgroup_subsys_state* state;
  if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
    return 0;
  if (!set) return 0;
  state =
      set->subsys[bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id)];
  if (!state) return 0;
  // Loads, which the kernel mends when they fail: three calls of the helper
  // for each allocation are dear.
  return state->cgroup->kn->id;
}

static __always_inline bool is_wanted(const struct task_struct* task,
                                      const struct tm_trace_task* entry) {
  if (wanted_tgid && !descends(task, wanted_tgid)) return false;
  if (wanted_cgroup && entry->cgroup != wanted_cgroup) return false;
  if (!filters_comm) return true;
  for (int i = 0; i < 16; ++i) {
    if (entry->comm[i] != wanted_comm[i]) return false;
    if (!entry->comm[i]) break;
  }
  return true;
}

static __always_inline void fill_task(const struct task_struct* task,
                                      struct tm_trace_task* entry) {
  const struct task_struct* leader = BPF_CORE_READ(task, group_leader);
  __u32 flags = entry->flags | TM_TASK_FILLED;
  entry->tgid = BPF_CORE_READ(task, tgid);
  entry->start_ns = BPF_CORE_READ(leader, start_boottime);
  bpf_core_read(&entry->comm, sizeof(entry->comm), &leader->comm);
  if (BPF_CORE_READ(task, flags) & kKernelThread) flags |= TM_TASK_KERNEL;
  // It may have become another: its name and its group change.
  flags &= ~TM_TASK_UNWANTED;
  if (!is_wanted(task, entry)) flags |= TM_TASK_UNWANTED;
  // At once: on another CPU a thread of the same task may ask meanwhile.
  *(volatile __u32*)&entry->flags = flags;
}

// The number of the running task's entry, counted from 1, or of the one that
// stands for all interrupts.
static __noinline __u32 find_task(__u32 meaning) {
  const struct task_struct* task = bpf_get_current_task_btf();
  struct tm_trace_task* entry;
  __u64 cgroup = 0;
  __u64 key = 1;
  __u32 number;
  __u32 index;
  if (!(meaning & TM_CODE_INTERRUPT)) {
    cgroup = cgroup_of(task);
    key = mixed(task->group_leader->start_boottime ^ ((__u64)task->tgid << 42) ^
                mixed(cgroup)) |
          2;
  }
  for (__u32 i = 0; i < kProbes; ++i) {
    __u64 known;
    index = (key + i) & task_mask;
    entry = bpf_map_lookup_elem(&tasks, &index);
    if (!entry) return 0;
    known = entry->key;
    if (!known) known = __sync_val_compare_and_swap(&entry->key, 0, key);
    if (known && known != key) continue;
    // Whoever finds it empty fills it: the thread whose it is may be about to.
    if (entry->flags & TM_TASK_FILLED) return index + 1;
    if (meaning & TM_CODE_INTERRUPT) {
      const bool is_filtered = wanted_tgid || wanted_cgroup || filters_comm;
      entry->flags = TM_TASK_INTERRUPT | TM_TASK_FILLED |
                     (is_filtered ? TM_TASK_UNWANTED : 0);
      return index + 1;
    }
    entry->cgroup = cgroup;
    fill_task(task, entry);
    return index + 1;
  }
  number = reuse_task(key);
  index = number - 1;
  entry = bpf_map_lookup_elem(&tasks, &index);
  if (!entry) {
    __sync_fetch_and_add(&faults.tasks_full, 1);
    return 0;
  }
  entry->cgroup = cgroup;
  fill_task(task, entry);
  return number;
}

static __noinline __u32 find_node(__u32 stack, __u32 task, __u32 generation) {
  const __u64 key = node_key(stack, task, generation);
  const __u64 hash = mixed(key);
  __u32 number;
  for (__u32 i = 0; i < kProbes; ++i) {
    const __u32 index = (hash + i) & node_mask;
    struct tm_trace_node* node = bpf_map_lookup_elem(&nodes, &index);
    __u64 known;
    if (!node) return 0;
    known = node->key;
    if (!known) {
      known = __sync_val_compare_and_swap(&node->key, 0, key);
      if (!known) node->generation = generation;
    }
    if (known && known != key) continue;
    if (node->generation != generation) {
      // The same key after thousands of generations.
      if (*(volatile __s64*)&node->pages) continue;
      renew(node, key, generation);
    }
    return index + 1;
  }
  number = reuse_node(key, generation);
  if (!number) __sync_fetch_and_add(&faults.nodes_full, 1);
  return number;
}
