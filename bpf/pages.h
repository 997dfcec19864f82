/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/pages.bpf.c and user space say to each other. */
#pragma once

enum {
  /* Copied in one go; a multiple of it is asked for. 512 structs of 64 bytes,
   * which is 2 MiB of memory and never crosses the edge of a memory section. */
  TM_COPY_BYTES = 32768,
  TM_COPIES = 32,
  TM_BLOCK_BYTES = TM_COPY_BYTES * TM_COPIES,

  TM_NAME_BATCH = 128,
  TM_LEAF_BYTES = 256,
  TM_DIRECTORY_BYTES = 96,
  TM_PATH_DEPTH = 20,
  TM_CACHE_NAME_BYTES = 64,
  TM_STACK_PAGES = 16,
};

struct tm_block {
  unsigned char bytes[TM_BLOCK_BYTES];
};

/* Where the running kernel has what we read. */
struct tm_page_layout {
  __u32 page_bytes; /* of a struct page */
  __u32 mapping;
  __u32 compound_head;
  __u32 page_type;
  __u32 refcount;
  __u32 slab_cache;
  /* Numbers of page types; 0 where this kernel has none of the name. */
  __u32 type_offline;
  __u32 type_table;
  __u32 type_zsmalloc;
  __u32 type_large_kmalloc;
};

struct tm_file_name {
  __u64 mapping; /* in: the address_space */
  __u64 inode;   /* out; 0 when it is gone */
  __u64 size;
  __u32 device; /* as the kernel keeps it: major << 20 | minor */
  __u32 link_count;
  __u32 depth;    /* directories told, the nearest first */
  __u32 is_whole; /* the last of them is the root of its file system */
  char leaf[TM_LEAF_BYTES];
  char directories[TM_PATH_DEPTH][TM_DIRECTORY_BYTES];
};

struct tm_file_names {
  struct tm_file_name files[TM_NAME_BATCH];
};

struct tm_cache_name {
  __u64 cache; /* in: the kmem_cache */
  char name[TM_CACHE_NAME_BYTES];
};

struct tm_cache_names {
  struct tm_cache_name caches[TM_NAME_BATCH];
};

/* A task's kernel stack. */
struct tm_stack {
  __u32 pid; /* of the process */
  __u32 thread;
  __u32 page_count;
  __u32 unused;
  char comm[16];
  __u64 pages[TM_STACK_PAGES]; /* addresses of struct page */
};
