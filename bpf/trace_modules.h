/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Modules that come and go while it is traced.
 *
 * The kernel tells of a module when it is about to call its init function,
 * which is late: by then most of what loading takes has been taken. So a load
 * gets a number with the first allocation below the loader, and its name when
 * the kernel tells of it. Where it ends is told by no event; the loader's
 * frames on the stack say as long as it lasts. */
#pragma once

#include "trace_tables.h"
// The order matters: it needs the kernel's integer names.
#include "modules.h"

enum {
  kFunction = 2, /* STT_FUNC */
  kSymbolType = 0xf,
};

__u32 module_count = 0;  /* entries in use, and those there was no room for */
__u32 module_events = 0; /* comings and goings */
__u64 lost_symbols = 0;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, TM_MODULES);
  __type(key, __u32);
  __type(value, struct tm_module);
} modules SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, TM_SYMBOL_RING_BYTES);
} module_symbols SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 1024);
  __type(key, __u32);   /* the thread */
  __type(value, __u32); /* what it loads or loaded last, counted from 1 */
} loading SEC(".maps");

/* The number of a new entry, counted from 1; 0 when there is no room. */
static __always_inline __u32 new_module(void) {
  const __u32 index = __sync_fetch_and_add(&module_count, 1);
  return index < TM_MODULES ? index + 1 : 0;
}

static __always_inline struct tm_module* module_at(__u32 number) {
  const __u32 index = number - 1;
  return bpf_map_lookup_elem(&modules, &index);
}

/* What the running thread loads, counted from 1; 0 when it is not known. */
static __always_inline __u32 module_being_loaded(__u32 meaning) {
  const __u32 thread = bpf_get_current_pid_tgid();
  const __u32* known = bpf_map_lookup_elem(&loading, &thread);
  const struct tm_module* module = known ? module_at(*known) : 0;
  __u32 number;
  if (module && (meaning & TM_CODE_INIT)) return *known;
  if (meaning & TM_CODE_INIT) return 0;
  /* One that has its name is past this: here begins the next. */
  if (module && !module->loaded_at) return *known;
  number = new_module();
  if (number) bpf_map_update_elem(&loading, &thread, &number, BPF_ANY);
  return number;
}

/* A stack of the loader together with what it loads. Its frames are those of
 * the stack it is made from. */
static __noinline __u32 stack_of_load(__u32 number, __u32 meaning) {
  const __u32 module = module_being_loaded(meaning);
  struct tm_stack_place place;
  if (!module) return number;
  place = place_of_stack(mixed((__u64)module << 32 | number) | 1);
  if (!place.stack || !place.is_new) return place.number;
  place.stack->meaning = meaning;
  place.stack->load = module;
  place.stack->base = number;
  return place.number;
}

/* --- what the kernel tells ------------------------------------------------ */

static __always_inline void read_memory(const struct module* from, __u32 type,
                                        __u64* first, __u64* bytes) {
  const struct module_memory* memory =
      (const void*)((const char*)__builtin_preserve_access_index(&from->mem) +
                    type * bpf_core_type_size(struct module_memory));
  *first = (__u64)BPF_CORE_READ(memory, base);
  *bytes = BPF_CORE_READ(memory, size);
}

static __always_inline void fill_places(const struct module* from,
                                        struct tm_module* to) {
  /* Up to 6.3 a module lay in two pieces. */
  const struct module___layouts* old = (const void*)from;
  if (bpf_core_field_exists(old->core_layout)) {
    to->text_first = (__u64)BPF_CORE_READ(old, core_layout.base);
    to->text_bytes = BPF_CORE_READ(old, core_layout.text_size);
    to->init_first = (__u64)BPF_CORE_READ(old, init_layout.base);
    to->init_bytes = BPF_CORE_READ(old, init_layout.text_size);
    to->image_bytes = BPF_CORE_READ(old, core_layout.size);
    return;
  }
  if (!bpf_core_field_exists(from->mem)) return;
  read_memory(from, bpf_core_enum_value(enum mod_mem_type, MOD_TEXT),
              &to->text_first, &to->text_bytes);
  read_memory(from, bpf_core_enum_value(enum mod_mem_type, MOD_INIT_TEXT),
              &to->init_first, &to->init_bytes);
  to->image_bytes = 0;
  /* What is needed for good stands before the first of init's. */
  for (__u32 i = 0; i < 8; ++i) {
    __u64 first;
    __u64 bytes;
    if (i >= bpf_core_enum_value(enum mod_mem_type, MOD_INIT_TEXT)) break;
    read_memory(from, i, &first, &bytes);
    to->image_bytes += bytes;
  }
}

static __always_inline void fill_module(const struct module* from,
                                        struct tm_module* to) {
  bpf_core_read_str(to->name, sizeof(to->name), &from->name);
  fill_places(from, to);
}

struct tm_symbol_walk {
  const struct elf64_sym* symbols;
  const char* names;
  __u64 first;
  __u64 bytes;
  __u32 module;
};

static __always_inline void send(const struct tm_symbol_walk* walk,
                                 const struct elf64_sym* symbol) {
  struct tm_module_symbol* sent =
      bpf_ringbuf_reserve(&module_symbols, sizeof(*sent), 0);
  if (!sent) {
    __sync_fetch_and_add(&lost_symbols, 1);
    return;
  }
  sent->module = walk->module;
  sent->is_last = !symbol;
  sent->address = symbol ? symbol->st_value : 0;
  sent->name[0] = 0;
  if (symbol)
    bpf_probe_read_kernel_str(sent->name, sizeof(sent->name),
                              walk->names + symbol->st_name);
  bpf_ringbuf_submit(sent, symbol ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP);
}

static long visit_symbol(__u32 index, void* context) {
  const struct tm_symbol_walk* walk = context;
  struct elf64_sym symbol;
  if (bpf_probe_read_kernel(&symbol, sizeof(symbol), walk->symbols + index))
    return 1;
  if ((symbol.st_info & kSymbolType) != kFunction) return 0;
  if (symbol.st_value - walk->first >= walk->bytes) return 0;
  send(walk, &symbol);
  return 0;
}

/* Functions in [first, first + bytes). */
static __always_inline void send_symbols(const struct module* from,
                                         __u32 module, __u64 first,
                                         __u64 bytes) {
  struct tm_symbol_walk walk = {};
  const struct mod_kallsyms* table;
  __u32 count;
  walk.module = module;
  walk.first = first;
  walk.bytes = bytes;
  if (bpf_core_field_exists(from->kallsyms)) {
    table = BPF_CORE_READ(from, kallsyms);
    walk.symbols = BPF_CORE_READ(table, symtab);
    walk.names = BPF_CORE_READ(table, strtab);
    count = BPF_CORE_READ(table, num_symtab);
    if (count > TM_MOST_SYMBOLS) count = TM_MOST_SYMBOLS;
    bpf_loop(count, visit_symbol, &walk, 0);
  }
  send(&walk, 0);
}

/* Functions of init are forgotten as soon as it has run. */
SEC("raw_tp/module_load")
int on_module_load(struct bpf_raw_tracepoint_args* context) {
  const struct module* from = (const void*)context->args[0];
  const __u32 thread = bpf_get_current_pid_tgid();
  const __u32* known = bpf_map_lookup_elem(&loading, &thread);
  __u32 number = known ? *known : 0;
  struct tm_module* module = number ? module_at(number) : 0;
  if (!is_on) return 0;
  if (!module || module->loaded_at) {
    number = new_module();
    module = module_at(number);
    if (!module) return 0;
    bpf_map_update_elem(&loading, &thread, &number, BPF_ANY);
  }
  fill_module(from, module);
  module->loaded_at = __sync_fetch_and_add(&module_events, 1) + 1;
  send_symbols(from, number, module->init_first, module->init_bytes);
  return 0;
}

/* All its functions: the last moment at which anybody knows them. */
SEC("raw_tp/module_free")
int on_module_free(struct bpf_raw_tracepoint_args* context) {
  const struct module* from = (const void*)context->args[0];
  const __u32 number = new_module();
  struct tm_module* module = module_at(number);
  if (!is_on || !module) return 0;
  fill_module(from, module);
  module->freed_at = __sync_fetch_and_add(&module_events, 1) + 1;
  send_symbols(from, number, module->text_first, module->text_bytes);
  return 0;
}
