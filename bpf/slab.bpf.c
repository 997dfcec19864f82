// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Follows objects of slab caches from the allocator and back to it.
//
// Each is booked to a site, which is a cache and the place that took it. A
// table of sets remembers the site of each address: an object lies in one of
// two sets of eight, so that giving back leaves no gap for others to search
// over, and nothing is allocated on the way. Events of one object never
// overlap: it is told of after it was taken and before it is given back.
#include "common.h"
// The order matters: it needs the kernel's integer names.
#include "slab.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

// --- set by user space before loading ---------------------------------------

const volatile __u32 set_mask = 0;     // sets of the table, less one
const volatile __u32 wanted_tgid = 0;  // and its descendants; 0: all
const volatile __u8 filters_comm = 0;
const volatile char wanted_comm[16] = {};

// --- shared with user space while running ------------------------------------

__u32 is_on = 0;
struct tm_slab_total total = {};
struct tm_slab_faults faults = {};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, TM_SLAB_SITES);
  __type(key, __u32);
  __type(value, struct tm_slab_site);
} sites SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);  // set before loading
  __type(key, __u32);
  __type(value, struct tm_slab_set);
} objects SEC(".maps");

// --- accounting
// ---------------------------------------------------------------

static __always_inline void book(__u32 number, __s64 bytes, __s64 count) {
  const __u32 index = number - 1;
  struct tm_slab_site* site = bpf_map_lookup_elem(&sites, &index);
  __s64 now;
  if (!site) return;
  now = __sync_fetch_and_add(&site->bytes, bytes) + bytes;
  __sync_fetch_and_add(&site->objects, count);
  if (count > 0) {
    raise_to(&site->peak_bytes, now);
    __sync_fetch_and_add(&site->allocation_count, 1);
  }
  now = __sync_fetch_and_add(&total.bytes, bytes) + bytes;
  if (count > 0) raise_to(&total.peak_bytes, now);
}

static __always_inline void note_untold(__u32 number) {
  const __u32 index = number - 1;
  struct tm_slab_site* site = bpf_map_lookup_elem(&sites, &index);
  if (site) __sync_fetch_and_add(&site->untold_count, 1);
}

// The number of the site, counted from 1; 0 when there is no room.
static __always_inline __u32 find_site(__u64 cache, __u64 call_site,
                                       const struct kmem_cache* named) {
  const __u64 key = mixed(cache ^ mixed(call_site)) | 1;
  for (__u32 i = 0; i < kProbes; ++i) {
    const __u32 index = (key + i) & (TM_SLAB_SITES - 1);
    struct tm_slab_site* site = bpf_map_lookup_elem(&sites, &index);
    __u64 known;
    if (!site) return 0;
    known = site->key;
    if (!known) known = __sync_val_compare_and_swap(&site->key, 0, key);
    if (known == key) return index + 1;
    if (known) continue;
    site->cache = cache;
    site->call_site = call_site;
    if (named)
      bpf_probe_read_kernel_str(site->name, sizeof(site->name),
                                BPF_CORE_READ(named, name));
    return index + 1;
  }
  __sync_fetch_and_add(&faults.sites_full, 1);
  return 0;
}

// --- which object is whose
// ------------------------------------------------------

static __always_inline struct tm_slab_set* set_of(__u64 hash, int which) {
  const __u32 index = (which ? hash >> 32 : hash) & set_mask;
  return bpf_map_lookup_elem(&objects, &index);
}

// Its slot; null when it is in neither set.
static __always_inline struct tm_slab_object* find_object(__u64 hash,
                                                          __u64 address) {
  for (int which = 0; which < 2; ++which) {
    struct tm_slab_set* set = set_of(hash, which);
    if (!set) return 0;
    for (int i = 0; i < TM_SLAB_SLOTS; ++i)
      if (set->slots[i].address == address) return &set->slots[i];
  }
  return 0;
}

static __always_inline bool put_object(__u64 hash,
                                       const struct tm_slab_object* object) {
  for (int which = 0; which < 2; ++which) {
    struct tm_slab_set* set = set_of(hash, which);
    if (!set) return false;
    for (int i = 0; i < TM_SLAB_SLOTS; ++i) {
      struct tm_slab_object* slot = &set->slots[i];
      if (slot->address) continue;
      if (__sync_val_compare_and_swap(&slot->address, 0, object->address))
        continue;
      slot->site = object->site;
      slot->bytes = object->bytes;
      return true;
    }
  }
  return false;
}

static __always_inline bool is_wanted(void) {
  char comm[16] = {};
  if (wanted_tgid &&
      !descends((const void*)bpf_get_current_task(), wanted_tgid))
    return false;
  if (!filters_comm) return true;
  bpf_get_current_comm(comm, sizeof(comm));
  for (int i = 0; i < 16; ++i) {
    if (comm[i] != wanted_comm[i]) return false;
    if (!comm[i]) break;
  }
  return true;
}

// Functions the verifier walks once, for any arguments.
__noinline int give(__u64 address) {
  const __u64 hash = mixed(address);
  struct tm_slab_object* slot;
  __u32 site;
  __s64 bytes;
  if (!address) return 0;
  slot = find_object(hash, address);
  if (!slot) {
    __sync_fetch_and_add(&faults.untracked_freed, 1);
    return 0;
  }
  site = slot->site;
  bytes = slot->bytes;
  slot->address = 0;
  book(site, -bytes, -1);
  return 0;
}

__noinline int take(__u64 address, __u32 site, __u32 bytes) {
  const struct tm_slab_object object = {address, site, bytes};
  const __u64 hash = mixed(address);
  struct tm_slab_object* slot = find_object(hash, address);
  if (slot) {
    // Given back in bulk, which is told by no event.
    __sync_fetch_and_add(&faults.overwritten, 1);
    note_untold(slot->site);
    book(slot->site, -(__s64)slot->bytes, -1);
    slot->site = site;
    slot->bytes = bytes;
  } else if (!put_object(hash, &object)) {
    __sync_fetch_and_add(&faults.objects_full, 1);
    return 0;
  }
  book(site, bytes, 1);
  return 0;
}

// --- events
// --------------------------------------------------------------------

SEC("raw_tp/kmem_cache_alloc")
int on_cache_alloc(struct bpf_raw_tracepoint_args* context) {
  const struct kmem_cache* cache = (const void*)context->args[2];
  __u32 site;
  if (!is_on || !context->args[1] || !is_wanted()) return 0;
  site = find_site((__u64)cache, context->args[0], cache);
  if (site) take(context->args[1], site, BPF_CORE_READ(cache, size));
  return 0;
}

SEC("raw_tp/kmalloc")
int on_kmalloc(struct bpf_raw_tracepoint_args* context) {
  const __u64 bytes = context->args[3];
  __u32 site;
  if (!is_on || !context->args[1] || bytes >> 32 || !is_wanted()) return 0;
  site = find_site(bytes, context->args[0], 0);
  if (site) take(context->args[1], site, bytes);
  return 0;
}

SEC("raw_tp/kmem_cache_free")
int on_cache_free(struct bpf_raw_tracepoint_args* context) {
  if (is_on) give(context->args[1]);
  return 0;
}

SEC("raw_tp/kfree")
int on_kfree(struct bpf_raw_tracepoint_args* context) {
  if (is_on) give(context->args[1]);
  return 0;
}

// Before 6.1 the events had other arguments, and there was one more of them: if
// this can be attached, the others must not be.
SEC("raw_tp/kmem_cache_alloc_node")
int on_older_kernel(struct bpf_raw_tracepoint_args* context) {
  return 0;
}
