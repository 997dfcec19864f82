// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Lists every descriptor and every mapping of a file of all processes, with
// what the kernel notes of the file. One read tells some hundred of them, where
// /proc takes two to four calls for each.
//
// Loaded by the kernel itself (a light skeleton), which knows its own types:
// user space would read 5 MB of type information first, and take longer for
// that than /proc takes for 5,000 descriptors.
#include "kernel_types.h"
// The order matters: the helpers need the types.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "objects.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

// Too large for the stack. One reader at a time uses it.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_reference_room);
} room SEC(".maps");

enum {
  S_IFMT = 0170000,
  S_IFIFO = 0010000,
};

static __always_inline void note_file(const struct file* file,
                                      struct tm_reference* head) {
  const struct inode* inode = file->f_inode;
  const struct super_block* owner = file->f_path.dentry->d_sb;
  head->open_mode = file->f_mode;
  head->pages = (__u64)file->f_mapping;
  head->cached_pages = file->f_mapping->nrpages;
  head->inode = inode->i_ino;
  head->size = inode->i_size;
  head->blocks = inode->i_blocks;
  head->link_count = inode->i_nlink;
  head->mode = inode->i_mode;
  head->device = inode->i_sb->s_dev;
  head->magic = inode->i_sb->s_magic;
  head->is_own = inode->i_sb == owner;
  head->pipe_pages = 0;
  head->pipe_slots = 0;
  if ((inode->i_mode & S_IFMT) == S_IFIFO && inode->i_pipe) {
    head->pipe_pages = inode->i_pipe->max_usage;
    head->pipe_slots = inode->i_pipe->head - inode->i_pipe->tail;
  }
}

static __always_inline void tell(struct seq_file* out, struct file* file,
                                 struct tm_reference_room* to) {
  const long length = bpf_d_path(&file->f_path, to->link, TM_LINK_BYTES);
  // /proc shows no link that is longer either.
  if (length <= 0 || length > TM_LINK_BYTES) return;
  to->head.link_bytes = length;
  bpf_seq_write(out, to, sizeof(to->head) + (length & (TM_LINK_ROOM - 1)));
}

SEC("iter/task_file")
int list_descriptors(struct bpf_iter__task_file* context) {
  const __u32 zero = 0;
  struct task_struct* task = context->task;
  struct file* file = context->file;
  struct tm_reference_room* to = bpf_map_lookup_elem(&room, &zero);
  if (!to || !task || !file) return 0;
  // A thread may have descriptors of its own, which /proc/PID/fd does not show.
  if (task->pid != task->tgid) return 0;
  to->head.pid = task->tgid;
  to->head.number = context->fd;
  note_file(file, &to->head);
  tell(context->meta->seq, file, to);
  return 0;
}

SEC("iter/task_vma")
int list_mappings(struct bpf_iter__task_vma* context) {
  const __u32 zero = 0;
  struct task_struct* task = context->task;
  struct vm_area_struct* area = context->vma;
  struct tm_reference_room* to = bpf_map_lookup_elem(&room, &zero);
  struct file* file;
  if (!to || !task || !area || task->pid != task->tgid) return 0;
  file = area->vm_file;
  if (!file) return 0;
  to->head.pid = task->tgid;
  to->head.start = area->vm_start;
  to->head.end = area->vm_end;
  to->head.mapping_flags = area->vm_flags;
  to->head.is_renamed = 0;
  if (bpf_core_field_exists(area->anon_name))
    to->head.is_renamed = area->anon_name != 0;
  note_file(file, &to->head);
  tell(context->meta->seq, file, to);
  return 0;
}
