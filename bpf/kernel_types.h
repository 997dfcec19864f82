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
  unsigned long arg_start;
  unsigned long arg_end;
};

struct mm_struct___counts {
  struct mm_rss_stat rss_stat;
};

/* --- control groups ------------------------------------------------------- */

enum cgroup_subsys_id {
  memory_cgrp_id = 4, /* the loader puts in the running kernel's number */
};

struct kernfs_node {
  __u64 id; /* the inode of its directory */
};

struct cgroup {
  struct kernfs_node* kn;
};

struct cgroup_subsys_state {
  struct cgroup* cgroup;
  struct cgroup_subsys_state* parent;
};

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

struct page;

struct vm_struct {
  struct page** pages;
  unsigned int nr_pages;
};

struct files_struct;

struct task_struct {
  void* stack;
  struct files_struct* files;
  struct vm_struct* stack_vm_area;
  int pid;
  int tgid;
  int exit_code;
  char comm[16];
  struct mm_struct* mm;
  unsigned int flags;
  __u64 start_boottime;
  struct task_struct* real_parent;
  struct task_struct* group_leader;
  struct signal_struct* signal;
  struct css_set* cgroups;
  struct pid* thread_pid;
};

struct linux_binprm {
  const char* filename;
};

/* --- pages and what they belong to ------------------------------------------
 */

struct page {
  unsigned long flags;
  void* mapping;
  unsigned long compound_head;
  unsigned int page_type;
  atomic_t _refcount;
};

struct kmem_cache {
  const char* name;
  unsigned int size; /* of one object with all that belongs to it */
};

struct slab {
  struct kmem_cache* slab_cache;
};

enum pagetype {
  PGTY_offline = 0xf1, /* the loader puts in the running kernel's numbers */
  PGTY_table = 0xf2,
  PGTY_zsmalloc = 0xf6,
  PGTY_large_kmalloc = 0xf8,
};

struct hlist_node {
  struct hlist_node* next;
};

struct hlist_head {
  struct hlist_node* first;
};

struct xarray {
  void* xa_head;
};

struct inode;

struct address_space {
  struct inode* host;
  struct xarray i_pages;
  unsigned long nrpages;
};

struct super_block {
  unsigned int s_dev;
  unsigned long s_magic;
};

struct pipe_inode_info {
  unsigned int head;
  unsigned int tail;
  unsigned int max_usage;
};

struct inode {
  unsigned short i_mode;
  struct super_block* i_sb;
  struct address_space* i_mapping;
  unsigned long i_ino;
  unsigned int i_nlink;
  long long i_size;
  __u64 i_blocks;
  struct hlist_head i_dentry;
  struct pipe_inode_info* i_pipe; /* shares its place: of pipes only */
};

struct qstr {
  const unsigned char* name;
};

union d_alias_or_other {
  struct hlist_node d_alias;
};

struct dentry {
  struct dentry* d_parent;
  struct qstr d_name;
  struct super_block* d_sb;
  union d_alias_or_other d_u;
};

struct path {
  struct dentry* dentry;
};

struct file {
  struct inode* f_inode;
  struct address_space* f_mapping;
  unsigned int f_mode;
  struct path f_path;
};

struct anon_vma_name;

struct vm_area_struct {
  unsigned long vm_start;
  unsigned long vm_end;
  unsigned long vm_flags;
  struct file* vm_file;
  struct anon_vma_name* anon_name; /* since 5.17, where it is built in */
};

struct fdtable {
  struct file** fd;
};

struct files_struct {
  struct fdtable* fdt;
};

/* --- modules ---------------------------------------------------------------
 */

struct module_memory {
  void* base;
  unsigned int size;
};

enum mod_mem_type {
  MOD_TEXT = 0, /* the loader puts in the running kernel's numbers */
  MOD_INIT_TEXT = 4,
};

struct mod_kallsyms {
  struct elf64_sym* symtab;
  unsigned int num_symtab;
  char* strtab;
};

struct module {
  char name[56];
  struct module_memory mem[7]; /* since 6.4 */
  struct mod_kallsyms* kallsyms;
};

struct module_layout {
  void* base;
  unsigned int size;
  unsigned int text_size;
};

struct module___layouts {
  struct module_layout core_layout;
  struct module_layout init_layout;
};

/* --- BPF's own -------------------------------------------------------------
 */

struct bpf_array {
  void* pptrs[0];
};

struct seq_file;

struct bpf_iter_meta {
  struct seq_file* seq;
  __u64 seq_num;
};

struct bpf_iter__task {
  struct bpf_iter_meta* meta;
  struct task_struct* task;
};

struct bpf_iter__task_file {
  struct bpf_iter_meta* meta;
  struct task_struct* task;
  __u32 fd;
  struct file* file;
};

struct bpf_iter__task_vma {
  struct bpf_iter_meta* meta;
  struct task_struct* task;
  struct vm_area_struct* vma;
};

#pragma clang attribute pop

/* ELF's own and the same everywhere. */
struct elf64_sym {
  __u32 st_name;
  __u8 st_info;
  __u8 st_other;
  __u16 st_shndx;
  __u64 st_value;
  __u64 st_size;
};
