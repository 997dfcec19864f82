// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Lets user space look at the kernel's page structs, and names what they point
// to: files, slab caches, kernel stacks.
//
// The structs are copied as they are, in blocks, and understood by user space,
// which is told here where this kernel keeps each field: a copy of 512 structs
// costs less than reading one field of each. All reads are safe reads: what has
// gone away meanwhile yields nothing.
#include "kernel_types.h"
// The order matters: the helpers need the types.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "known_page.h"
#include "pages.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_block);
} block SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_file_names);
} file_names SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_cache_names);
} cache_names SEC(".maps");

// --- asked and answered
// --------------------------------------------------------

struct tm_page_layout layout = {};
struct tm_known_page known = {};

__u64 copy_from = 0;
__u32 copy_count = 0;
__u32 copied = 0;  // a bit for each copy that succeeded

__u32 name_count = 0;

// Where the fields are, and the struct of a page that user space knows too.
SEC("syscall")
int look_around(void* context) {
  layout.page_bytes = bpf_core_type_size(struct page);
  layout.mapping = bpf_core_field_offset(struct page, mapping);
  layout.compound_head = bpf_core_field_offset(struct page, compound_head);
  layout.page_type = bpf_core_field_offset(struct page, page_type);
  layout.refcount = bpf_core_field_offset(struct page, _refcount);
  layout.slab_cache = bpf_core_field_offset(struct slab, slab_cache);
  if (bpf_core_enum_value_exists(enum pagetype, PGTY_offline))
    layout.type_offline = bpf_core_enum_value(enum pagetype, PGTY_offline);
  if (bpf_core_enum_value_exists(enum pagetype, PGTY_table))
    layout.type_table = bpf_core_enum_value(enum pagetype, PGTY_table);
  if (bpf_core_enum_value_exists(enum pagetype, PGTY_zsmalloc))
    layout.type_zsmalloc = bpf_core_enum_value(enum pagetype, PGTY_zsmalloc);
  if (bpf_core_enum_value_exists(enum pagetype, PGTY_large_kmalloc)) {
    layout.type_large_kmalloc =
        bpf_core_enum_value(enum pagetype, PGTY_large_kmalloc);
  }
  known.page_struct_bytes = layout.page_bytes;
  known.address = first_page_of(known.fd);
  return 0;
}

SEC("syscall")
int copy_pages(void* context) {
  const __u32 zero = 0;
  struct tm_block* to = bpf_map_lookup_elem(&block, &zero);
  if (!to) return 1;
  copied = 0;
  for (__u32 i = 0; i < TM_COPIES; ++i) {
    if (i >= copy_count) break;
    if (!bpf_probe_read_kernel(to->bytes + (__u64)i * TM_COPY_BYTES,
                               TM_COPY_BYTES,
                               (void*)(copy_from + (__u64)i * TM_COPY_BYTES))) {
      copied |= 1U << i;
    }
  }
  return 0;
}

static __always_inline void name_directories(const struct dentry* dentry,
                                             struct tm_file_name* name) {
  for (__u32 i = 0; i < TM_PATH_DEPTH; ++i) {
    const struct dentry* parent = BPF_CORE_READ(dentry, d_parent);
    if (!parent || parent == dentry) {
      name->is_whole = 1;
      return;
    }
    bpf_probe_read_kernel_str(name->directories[i], TM_DIRECTORY_BYTES,
                              BPF_CORE_READ(parent, d_name.name));
    name->depth = i + 1;
    dentry = parent;
  }
}

SEC("syscall")
int name_files(void* context) {
  const __u32 zero = 0;
  struct tm_file_names* all = bpf_map_lookup_elem(&file_names, &zero);
  if (!all) return 1;
  for (__u32 i = 0; i < TM_NAME_BATCH; ++i) {
    struct tm_file_name* name = &all->files[i];
    const struct address_space* mapping = (void*)name->mapping;
    const struct hlist_node* alias;
    const struct dentry* dentry;
    const struct inode* inode;
    if (i >= name_count) break;
    name->inode = 0;
    name->depth = 0;
    name->is_whole = 0;
    name->leaf[0] = 0;
    inode = BPF_CORE_READ(mapping, host);
    // An inode that was freed and used again does not point back.
    if (!inode || BPF_CORE_READ(inode, i_mapping) != mapping) continue;
    name->inode = BPF_CORE_READ(inode, i_ino);
    name->size = BPF_CORE_READ(inode, i_size);
    name->link_count = BPF_CORE_READ(inode, i_nlink);
    name->device = BPF_CORE_READ(inode, i_sb, s_dev);
    alias = BPF_CORE_READ(inode, i_dentry.first);
    if (!alias) continue;
    dentry = (void*)alias - bpf_core_field_offset(struct dentry, d_u.d_alias);
    bpf_probe_read_kernel_str(name->leaf, TM_LEAF_BYTES,
                              BPF_CORE_READ(dentry, d_name.name));
    name_directories(dentry, name);
  }
  return 0;
}

SEC("syscall")
int name_caches(void* context) {
  const __u32 zero = 0;
  struct tm_cache_names* all = bpf_map_lookup_elem(&cache_names, &zero);
  if (!all) return 1;
  for (__u32 i = 0; i < TM_NAME_BATCH; ++i) {
    struct tm_cache_name* name = &all->caches[i];
    const struct kmem_cache* cache = (void*)name->cache;
    if (i >= name_count) break;
    name->name[0] = 0;
    bpf_probe_read_kernel_str(name->name, TM_CACHE_NAME_BYTES,
                              BPF_CORE_READ(cache, name));
  }
  return 0;
}

SEC("iter/task")
int list_stacks(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  struct seq_file* out = context->meta->seq;
  struct tm_stack stack = {};
  const struct vm_struct* area;
  struct page** pages;
  if (!task || !bpf_core_field_exists(task->stack_vm_area)) return 0;
  area = BPF_CORE_READ(task, stack_vm_area);
  if (!area) return 0;
  stack.pid = BPF_CORE_READ(task, tgid);
  stack.thread = BPF_CORE_READ(task, pid);
  bpf_core_read(&stack.comm, sizeof(stack.comm), &task->comm);
  pages = BPF_CORE_READ(area, pages);
  stack.page_count = BPF_CORE_READ(area, nr_pages);
  for (__u32 i = 0; i < TM_STACK_PAGES; ++i) {
    if (i >= stack.page_count) break;
    bpf_probe_read_kernel(&stack.pages[i], sizeof(stack.pages[i]), pages + i);
  }
  bpf_seq_write(out, &stack, sizeof(stack));
  return 0;
}
