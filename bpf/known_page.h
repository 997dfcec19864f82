/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A page of user space's own, whose frame it can ask for: with the address of
 * its struct, the distance tells where the array of page structs begins. */
#pragma once

#include <linux/types.h>

struct tm_known_page {
  __u32 fd; /* of a file with one page, in the task that runs the program */
  __u32 page_struct_bytes;
  __u64 address; /* of the page's struct; odd or 0 when it is not one page */
};

#ifdef __bpf__
static __always_inline __u64 first_page_of(__u32 fd) {
  const struct task_struct* task = (void*)bpf_get_current_task();
  struct file** files = BPF_CORE_READ(task, files, fdt, fd);
  struct file* file = 0;
  if (bpf_probe_read_kernel(&file, sizeof(file), files + fd)) return 0;
  return (__u64)BPF_CORE_READ(file, f_inode, i_mapping, i_pages.xa_head);
}
#endif
