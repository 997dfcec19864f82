/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is told of the kernel's modules that come and go while it is traced. */
#pragma once

#include <linux/types.h>

enum {
  TM_MODULES = 512,
  TM_MODULE_NAME = 56,
  TM_SYMBOL_NAME = 64,
  TM_SYMBOL_RING_BYTES = 512 * 1024,
  TM_MOST_SYMBOLS = 65536, /* of one module */
};

/* A load from its first allocation on, or an end. Comings and goings are
 * counted; which of them it was is its time. */
struct tm_module {
  __u64 text_first;
  __u64 text_bytes;
  __u64 init_first; /* code that goes when the module is ready */
  __u64 init_bytes;
  __u64 image_bytes; /* all of it without what only init needs */
  __u32 loaded_at;   /* 0: not yet told of, or an end */
  __u32 freed_at;    /* 0: no end */
  char name[TM_MODULE_NAME];
};

/* A function of one, sent while the kernel still knows it. */
struct tm_module_symbol {
  __u64 address;
  __u32 module; /* counted from 1 */
  __u32 is_last;
  char name[TM_SYMBOL_NAME];
};
