/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/objects.bpf.c tells user space. */
#pragma once

enum {
  TM_LINK_BYTES = 4096, /* as much as /proc tells */
  /* The verifier knows only that a link is shorter than twice that. */
  TM_LINK_ROOM = 2 * TM_LINK_BYTES,
};

/* A descriptor or a mapping of a process, and the file it refers to. The link
 * follows, link_bytes long with its zero. */
struct tm_reference {
  __u32 pid;
  __u32 number; /* of a descriptor */
  __u64 start;  /* of a mapping */
  __u64 end;
  __u64 mapping_flags;
  __u64 inode;
  __u64 size;
  __u64 blocks; /* of 512 bytes */
  __u64 cached_pages;
  __u64 magic;  /* of the file system */
  __u64 pages;  /* the address_space that its pages belong to */
  __u32 device; /* as the kernel keeps it: major << 20 | minor */
  __u32 link_count;
  __u32 mode;
  __u32 open_mode;
  __u32 is_own;     /* path and inode are of the same file system */
  __u32 is_renamed; /* a mapping that goes by a name its process gave it */
  __u32 pipe_pages; /* what a pipe may hold */
  __u32 pipe_slots; /* that hold something */
  __u32 link_bytes;
  __u32 unused;
};

struct tm_reference_room {
  struct tm_reference head;
  char link[TM_LINK_ROOM];
};
