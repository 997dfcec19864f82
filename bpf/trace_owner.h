// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Whether an allocation is asked for, and whom it is booked to.
#pragma once

#include "trace_modules.h"
#include "trace_stacks.h"
#include "trace_tasks.h"

static __always_inline bool is_asked_for(__u32 order, __u32 gfp) {
  return order >= least_order && order <= most_order &&
         (gfp & wanted_gfp) == wanted_gfp && !(gfp & unwanted_gfp);
}

// The number of the node that what is taken now is booked to; 0 when nobody
// asks for it or there is no room.
static __always_inline __u32 find_owner(void* context) {
  __u32 stack_number = find_known_stack(context);
  const __u32 stack_index = stack_number - 1;
  const struct tm_trace_stack* stack;
  const struct tm_trace_task* task;
  __u32 task_number;
  __u32 task_index;
  if (!stack_number) return 0;
  stack = bpf_map_lookup_elem(&stacks, &stack_index);
  if (!stack) return 0;
  if (needed_meaning && !(stack->meaning & needed_meaning)) return 0;
  if ((stack->meaning & (TM_CODE_LOADING | TM_CODE_INTERRUPT)) ==
      TM_CODE_LOADING) {
    stack_number = stack_of_load(stack_number, stack->meaning);
    if (!stack_number) return 0;
  }
  task_number = find_task(stack->meaning);
  if (!task_number) return 0;
  task_index = task_number - 1;
  task = bpf_map_lookup_elem(&tasks, &task_index);
  if (!task || (task->flags & TM_TASK_UNWANTED)) return 0;
  return find_node(stack_number, task_number, task->generation);
}
