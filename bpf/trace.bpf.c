// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Follows every page from the allocator and back to it.
//
// Each allocation is booked to a node, which is a stack and a task; a table
// with an entry for every page frame remembers the node, and the free finds it
// there. Events of one frame never overlap (the allocator's locks lie between
// them), so its entry needs no lock. Nothing is sent to user space: it reads
// the tables when it likes to.
//
// The tree as it stood at the machine's peak costs a compare for each event:
// as long as the machine is at its peak, nodes need no note of it; the first
// change of a node after a peak saves what it was (epoch says which peak).
#include "kernel_types.h"
// The order matters: the helpers need the types.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "known_page.h"
#include "trace.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum {
  kKernelThread = 0x00200000,  // PF_KTHREAD
  kProbes = 16,
  kTries = 4,
  kMostOrder = 10,
  kAncestors = 32,
  // On top of each stack are this function and the program that called it, from
  // wherever the compiler put the call. Were a kernel to leave them out, what
  // is passed over instead is the tracepoint's and the same on all stacks.
  kOwnFrames = 2,
};

// --- set by user space before loading ---------------------------------------

const volatile __u32 section_count = 0;
const volatile __u32 stack_mask = 0;  // entries of the table, less one
const volatile __u32 task_mask = 0;
const volatile __u32 node_mask = 0;
const volatile __u32 sample_mask = 0;  // one frame in mask + 1
const volatile __u8 uses_signatures = 0;
const volatile __u32 range_count = 0;
const volatile struct tm_code_range ranges[TM_CODE_RANGES] = {};

// Filters; 0 or empty: all.
const volatile __u32 wanted_tgid = 0;  // and its descendants
const volatile __u8 filters_comm = 0;
const volatile char wanted_comm[16] = {};
const volatile __u64 wanted_cgroup = 0;
const volatile __u32 least_order = 0;
const volatile __u32 most_order = 64;
const volatile __u32 wanted_gfp = 0;  // all of these bits
const volatile __u32 unwanted_gfp = 0;
const volatile __u32 needed_meaning = 0;  // of a stack

// --- shared with user space while running ------------------------------------

__u32 is_on = 0;
__u64 page_array = 0;  // address of the struct of frame 0
__u32 page_struct_bytes = 64;
struct tm_trace_machine machine = {.epoch = 1};
struct tm_trace_faults faults = {};
__u64 allocation_count = 0;
__u64 free_count = 0;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);  // set before loading, as in all that follow
  __type(key, __u32);
  __type(value, __u32);  // number of its first chunk, counted from 1
} sections SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_frame_chunk);
} chunks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_trace_stack);
} stacks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_trace_task);
} tasks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_trace_node);
} nodes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_trace_stack);
} unwound SEC(".maps");

// --- where the structs of pages begin
// ------------------------------------------

struct tm_known_page known = {};

SEC("syscall")
int look_around(void* context) {
  known.page_struct_bytes = bpf_core_type_size(struct page);
  known.address = first_page_of(known.fd);
  return 0;
}

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, TM_SIGNATURES);
  __type(key, __u32);
  __type(value, struct tm_signature);
} signatures SEC(".maps");

struct tm_stack_copy {
  __u64 pointer;
  __u64 bottom;
  __u64 words[TM_SIGNATURE_WORDS];
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct tm_stack_copy);
} stack_copies SEC(".maps");

// Pages on their way, from the unmapping of the old one to the mapping of the
// new one by the same thread.
struct tm_move {
  __u64 address;
  __u64 thread;
};

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 16384);
  __type(key, struct tm_move);
  __type(value, __u64);  // the old frame
} moves SEC(".maps");

// --- small things ------------------------------------------------------------

static __always_inline __u64 mixed(__u64 value) {
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93;
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93;
  return value ^ (value >> 32);
}

static __always_inline void raise_to(__s64* peak, __s64 value) {
  for (int i = 0; i < kTries; ++i) {
    const __s64 known = *(volatile __s64*)peak;
    if (value <= known) return;
    if (__sync_val_compare_and_swap(peak, known, value) == known) return;
  }
}

static __always_inline __u64 frame_of(__u64 page) {
  // A shift where it can be one: a division takes 20 cycles.
  if (page_struct_bytes == 64) return (page - page_array) >> 6;
  return (page - page_array) / page_struct_bytes;
}

// Alloc and free agree on it, whatever happens between them.
static __always_inline bool is_sampled(__u64 frame) {
  return !sample_mask || ((mixed(frame) >> 8) & sample_mask) == 0;
}

static __always_inline __u32* entry_of(__u64 frame) {
  const __u32 section = frame >> TM_SECTION_SHIFT;
  const __u32* first;
  __u32 number;
  struct tm_frame_chunk* chunk;
  if (frame >> TM_SECTION_SHIFT >= section_count) return 0;
  first = bpf_map_lookup_elem(&sections, &section);
  if (!first || !*first) return 0;
  number = *first - 1 + ((frame / TM_FRAMES_PER_CHUNK) % TM_CHUNKS_PER_SECTION);
  chunk = bpf_map_lookup_elem(&chunks, &number);
  if (!chunk) return 0;
  return &chunk->nodes[frame % TM_FRAMES_PER_CHUNK];
}

// --- accounting
// ----------------------------------------------------------------

// A function the verifier walks once, for any arguments: inlined, it would walk
// it for each number of pages a loop can count to.
__noinline int book(__u32 number, __s64 change) {
  const __u32 index = number - 1;
  struct tm_trace_node* node = bpf_map_lookup_elem(&nodes, &index);
  struct tm_trace_task* task;
  __u32 task_index;
  __s64 total;
  __s64 now;
  if (!node || !change) return 0;
  total = __sync_fetch_and_add(&machine.pages, change) + change;
  if (change > 0 && total > *(volatile __s64*)&machine.peak_pages) {
    raise_to(&machine.peak_pages, total);
    machine.peak_ns = bpf_ktime_get_ns();
    if (machine.has_changed_since_peak) {
      machine.has_changed_since_peak = 0;
      __sync_fetch_and_add(&machine.epoch, 1);
    }
  } else if (node->epoch != machine.epoch) {
    node->saved_pages = node->pages;
    node->epoch = machine.epoch;
    machine.has_changed_since_peak = 1;
  }
  now = __sync_fetch_and_add(&node->pages, change) + change;
  if (change > 0) {
    raise_to(&node->peak_pages, now);
    __sync_fetch_and_add(&node->allocation_count, 1);
    if (now == change) node->held_since_ns = bpf_ktime_get_ns();
  }
  task_index = (__u32)node->key - 1;
  task = bpf_map_lookup_elem(&tasks, &task_index);
  if (!task) return 0;
  now = __sync_fetch_and_add(&task->pages, change) + change;
  if (change > 0) raise_to(&task->peak_pages, now);
  return 0;
}

__noinline int note_untracked(__u64 pages) {
  if (pages) __sync_fetch_and_add(&faults.untracked_freed, pages);
  return 0;
}

// Pages with successive frames that belong to one node are booked together.
struct tm_frame_walk {
  __u64 frame;
  __u32 node; /* of those that follow */
  __u32 run_node;
  __s64 run_pages;
  __s64 taken_pages;
};

static __always_inline void end_run(struct tm_frame_walk* walk) {
  book(walk->run_node, -walk->run_pages);
  walk->run_pages = 0;
}

// Takes the frame from whoever had it.
static __always_inline void release(struct tm_frame_walk* walk, __u32 owner) {
  if (owner != walk->run_node) {
    end_run(walk);
    walk->run_node = owner;
  }
  ++walk->run_pages;
}

static long take_frame(__u32 index, void* context) {
  struct tm_frame_walk* walk = context;
  __u32* entry;
  __u32 before;
  if (!is_sampled(walk->frame + index)) return 0;
  entry = entry_of(walk->frame + index);
  if (!entry) {
    __sync_fetch_and_add(&faults.out_of_range, 1);
    return 0;
  }
  before = *entry;
  *entry = walk->node;
  ++walk->taken_pages;
  if (!before || before == TM_FRAME_MOVED) return 0;
  // Its free was missed.
  __sync_fetch_and_add(&faults.overwritten, 1);
  release(walk, before);
  return 0;
}

static long give_frame(__u32 index, void* context) {
  struct tm_frame_walk* walk = context;
  __u32* entry;
  __u32 before;
  if (!is_sampled(walk->frame + index)) return 0;
  entry = entry_of(walk->frame + index);
  if (!entry) return 0;
  before = *entry;
  if (!before) {
    ++walk->taken_pages;  // here: those that nobody was seen to take
    return 0;
  }
  *entry = 0;
  if (before != TM_FRAME_MOVED) release(walk, before);
  return 0;
}

#include "trace_modules.h"

// --- who and through what code
// ---------------------------------------------------

// A callback may only be handed what lies on the caller's stack.
struct tm_stack_walk {
  struct tm_trace_stack* stack;
};

static long note_meaning(__u32 index, void* context) {
  struct tm_trace_stack* stack = ((struct tm_stack_walk*)context)->stack;
  __u64 address;
  if (index >= TM_STACK_DEPTH || index >= stack->depth) return 1;
  address = stack->frames[index];
  for (__u32 i = 0; i < TM_CODE_RANGES; ++i) {
    if (i >= range_count) break;
    if (address >= ranges[i].first && address < ranges[i].last)
      stack->meaning |= ranges[i].meaning;
  }
  return 0;
}

// Returns the number of the stack, counted from 1.
static __noinline __u32 find_stack(void* context) {
  const __u32 zero = 0;
  struct tm_trace_stack* mine = bpf_map_lookup_elem(&unwound, &zero);
  struct tm_stack_walk walk;
  __u64 hash = 0x9e3779b97f4a7c15;
  long bytes;
  if (!mine) return 0;
  bytes = bpf_get_stack(context, mine->frames, sizeof(mine->frames), 0);
  if (bytes <= 0) {
    __sync_fetch_and_add(&faults.no_stack, 1);
    return 0;
  }
  mine->depth = bytes / sizeof(mine->frames[0]);
  for (__u32 i = kOwnFrames; i < TM_STACK_DEPTH; ++i) {
    if (i >= mine->depth) break;
    hash = (hash ^ mine->frames[i]) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  hash = mixed(hash);
  if (!hash) hash = 1;
  for (__u32 i = 0; i < kProbes; ++i) {
    const __u32 index = (hash + i) & stack_mask;
    struct tm_trace_stack* stack = bpf_map_lookup_elem(&stacks, &index);
    __u64 known;
    if (!stack) return 0;
    known = stack->hash;
    if (!known) known = __sync_val_compare_and_swap(&stack->hash, 0, hash);
    if (known == hash) return index + 1;
    if (known) continue;
    bpf_probe_read_kernel(stack->frames, sizeof(stack->frames), mine->frames);
    stack->depth = mine->depth;
    stack->seen_at = module_events;
    walk.stack = stack;
    bpf_loop(TM_STACK_DEPTH, note_meaning, &walk, 0);
    return index + 1;
  }
  __sync_fetch_and_add(&faults.stacks_full, 1);
  return 0;
}

// --- stacks known again
// ---------------------------------------------------------- Unwinding costs
// more than everything else together. What it finds is decided by the return
// addresses on the stack; so all words there that can be some are hashed, and a
// stack with the same hash is the same. Words that only look like return
// addresses, left by earlier calls, make two of one stack and never one of two;
// one in a thousand is unwound all the same, and what is wrong counted.

enum {
  kThreadBytes = 16384,
  // The registers of user space lie on top, and may be anything.
  kRegisterBytes = 192,
  kVerifyEvery = 1024,
};
// Kernel code, modules and BPF programs: the top 2 GiB of all addresses.
#define FIRST_CODE_ADDRESS 0xffffffff80000000ULL

// Where the stack is now. A function of its own that needs next to no stack:
// since 6.13 larger programs are given one that is not the kernel's.
static __noinline int note_stack_pointer(struct tm_stack_copy* copy) {
  __u64 here = 0;
  __u64* volatile at = &here;
  copy->pointer = (__u64)at;
  return 0;
}

// Hash of the stack's return addresses; 0 when it cannot be told.
static __noinline __u64 signature_of(struct tm_stack_copy* copy) {
  const struct task_struct* task = bpf_get_current_task_btf();
  __u64 hash = 0x9e3779b97f4a7c15;
  __u64 bottom;
  __u64 size;
  note_stack_pointer(copy);
  // Through the map: the verifier lets no pointer be reckoned with.
  copy->bottom = (__u64)task->stack;
  bottom = *(volatile __u64*)&copy->bottom;
  if (copy->pointer <= bottom) return 0;
  size = bottom + kThreadBytes - kRegisterBytes - copy->pointer;
  if (size > sizeof(copy->words)) return 0;  // also when it is not this stack
  if (bpf_probe_read_kernel(copy->words, size, (void*)copy->pointer)) return 0;
  for (__u32 i = 0; i < TM_SIGNATURE_WORDS; ++i) {
    if (i * 8 >= size) break;
    if (copy->words[i] < FIRST_CODE_ADDRESS) continue;
    hash = (hash ^ copy->words[i]) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  hash = mixed(hash);
  return hash ? hash : 1;
}

// As find_stack, which it calls for what it has not seen yet.
static __always_inline __u32 find_known_stack(void* context) {
  const __u32 zero = 0;
  struct tm_stack_copy* copy = bpf_map_lookup_elem(&stack_copies, &zero);
  struct tm_signature* known = 0;
  bool is_known = false;
  __u64 hash = 0;
  __u32 stack;
  if (uses_signatures && copy) hash = signature_of(copy);
  if (hash) {
    const __u32 index = hash % TM_SIGNATURES;
    known = bpf_map_lookup_elem(&signatures, &index);
    is_known = known && known->hash == hash;
    if (is_known && ++known->hit_count % kVerifyEvery != 0) return known->stack;
  }
  stack = find_stack(context);
  if (!known) return stack;
  if (is_known) {
    __sync_fetch_and_add(&faults.verified_signatures, 1);
    if (known->stack != stack)
      __sync_fetch_and_add(&faults.wrong_signatures, 1);
  }
  known->hash = stack ? hash : 0;
  known->stack = stack;
  return stack;
}

static __always_inline __u64 cgroup_of(const struct task_struct* task) {
  const struct css_set* set = task->cgroups;
  const struct cgroup_subsys_state* state;
  if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
    return 0;
  if (!set) return 0;
  state =
      set->subsys[bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id)];
  if (!state) return 0;
  return BPF_CORE_READ(state, cgroup, kn, id);
}

static __always_inline bool descends(const struct task_struct* task,
                                     __u32 ancestor) {
  for (int i = 0; i < kAncestors; ++i) {
    const __u32 tgid = BPF_CORE_READ(task, tgid);
    if (tgid == ancestor) return true;
    if (tgid <= 1) return false;
    task = BPF_CORE_READ(task, real_parent);
  }
  return false;
}

static __always_inline bool is_wanted(const struct task_struct* task,
                                      const struct tm_trace_task* entry) {
  if (wanted_tgid && !descends(task, wanted_tgid)) return false;
  if (wanted_cgroup && entry->cgroup != wanted_cgroup) return false;
  if (!filters_comm) return true;
  for (int i = 0; i < 16; ++i) {
    if (entry->comm[i] != wanted_comm[i]) return false;
    if (!entry->comm[i]) break;
  }
  return true;
}

static __always_inline void fill_task(const struct task_struct* task,
                                      struct tm_trace_task* entry) {
  const struct task_struct* leader = BPF_CORE_READ(task, group_leader);
  entry->tgid = BPF_CORE_READ(task, tgid);
  entry->start_ns = BPF_CORE_READ(leader, start_boottime);
  bpf_core_read(&entry->comm, sizeof(entry->comm), &leader->comm);
  if (BPF_CORE_READ(task, flags) & kKernelThread) entry->flags = TM_TASK_KERNEL;
  if (!is_wanted(task, entry)) entry->flags |= TM_TASK_UNWANTED;
}

// The number of the running task's entry, counted from 1, or of the one that
// stands for all interrupts.
static __noinline __u32 find_task(__u32 meaning) {
  const struct task_struct* task = bpf_get_current_task_btf();
  __u64 cgroup = 0;
  __u64 key = 1;
  if (!(meaning & TM_CODE_INTERRUPT)) {
    cgroup = cgroup_of(task);
    key = mixed(task->group_leader->start_boottime ^ ((__u64)task->tgid << 42) ^
                mixed(cgroup)) |
          2;
  }
  for (__u32 i = 0; i < kProbes; ++i) {
    const __u32 index = (key + i) & task_mask;
    struct tm_trace_task* entry = bpf_map_lookup_elem(&tasks, &index);
    __u64 known;
    if (!entry) return 0;
    known = entry->key;
    if (!known) known = __sync_val_compare_and_swap(&entry->key, 0, key);
    if (known == key) return index + 1;
    if (known) continue;
    if (meaning & TM_CODE_INTERRUPT) {
      entry->flags = TM_TASK_INTERRUPT;
      if (wanted_tgid || wanted_cgroup || filters_comm)
        entry->flags |= TM_TASK_UNWANTED;
      return index + 1;
    }
    entry->cgroup = cgroup;
    fill_task(task, entry);
    return index + 1;
  }
  __sync_fetch_and_add(&faults.tasks_full, 1);
  return 0;
}

static __noinline __u32 find_node(__u32 stack, __u32 task) {
  const __u64 key = (__u64)stack << 32 | task;
  const __u64 hash = mixed(key);
  for (__u32 i = 0; i < kProbes; ++i) {
    const __u32 index = (hash + i) & node_mask;
    struct tm_trace_node* node = bpf_map_lookup_elem(&nodes, &index);
    __u64 known;
    if (!node) return 0;
    known = node->key;
    if (!known) known = __sync_val_compare_and_swap(&node->key, 0, key);
    if (!known || known == key) return index + 1;
  }
  __sync_fetch_and_add(&faults.nodes_full, 1);
  return 0;
}

// --- events
// ----------------------------------------------------------------------

static __always_inline bool is_asked_for(__u32 order, __u32 gfp) {
  return order >= least_order && order <= most_order &&
         (gfp & wanted_gfp) == wanted_gfp && !(gfp & unwanted_gfp);
}

SEC("raw_tp/mm_page_alloc")
int on_alloc(struct bpf_raw_tracepoint_args* context) {
  struct tm_frame_walk walk = {};
  const __u64 page = context->args[0];
  const __u32 order = context->args[1];
  const struct tm_trace_stack* stack;
  const struct tm_trace_task* task;
  __u32 stack_number;
  __u32 stack_index;
  __u32 task_number;
  __u32 task_index;
  if (!is_on || !page || order > kMostOrder) return 0;
  if (!is_asked_for(order, context->args[2])) return 0;
  walk.frame = frame_of(page);
  if (order == 0 && !is_sampled(walk.frame)) return 0;
  stack_number = find_known_stack(context);
  if (!stack_number) return 0;
  stack_index = stack_number - 1;
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
  walk.node = find_node(stack_number, task_number);
  if (!walk.node) return 0;
  if (order == 0) {
    take_frame(0, &walk);
  } else {
    bpf_loop(1U << order, take_frame, &walk, 0);
  }
  end_run(&walk);
  book(walk.node, walk.taken_pages);
  return 0;
}

SEC("raw_tp/mm_page_free")
int on_free(struct bpf_raw_tracepoint_args* context) {
  struct tm_frame_walk walk = {};
  const __u64 page = context->args[0];
  const __u32 order = context->args[1];
  if (!is_on || !page || order > kMostOrder) return 0;
  walk.frame = frame_of(page);
  if (order == 0) {
    if (!is_sampled(walk.frame)) return 0;
    give_frame(0, &walk);
  } else {
    bpf_loop(1U << order, give_frame, &walk, 0);
  }
  end_run(&walk);
  note_untracked(walk.taken_pages);
  return 0;
}

// --- pages that are moved
// ---------------------------------------------------------- Compaction gives a
// page another frame without an event of the allocator: the old one is given
// back, the new one was never taken. What is told is that a mapping was
// replaced by a note which frame it was (set), and that note by a mapping of
// the new frame (remove).

// How x86 writes a frame into a note: the bits are inverted and moved. Above
// the frame stand two bits about the page, where depends on the depth of the
// page tables.
static __always_inline __u64 frame_in_note(__u64 note, __u32 bits) {
  return ((~note << 5) >> 14) & ((1ULL << bits) - 1);
}

static __always_inline __u64 frame_in_mapping(__u64 mapping) {
  return (mapping & 0x000ffffffffff000ULL) >> 12;
}

SEC("raw_tp/set_migration_pte")
int on_unmap(struct bpf_raw_tracepoint_args* context) {
  struct tm_move move = {context->args[0], bpf_get_current_pid_tgid()};
  __u64 frame = frame_in_note(context->args[1], 40);
  if (!is_on) return 0;
  if (!entry_of(frame)) frame = frame_in_note(context->args[1], 34);
  bpf_map_update_elem(&moves, &move, &frame, BPF_ANY);
  return 0;
}

SEC("raw_tp/remove_migration_pte")
int on_remap(struct bpf_raw_tracepoint_args* context) {
  const struct tm_move move = {context->args[0], bpf_get_current_pid_tgid()};
  const __u64 new_frame = frame_in_mapping(context->args[1]);
  const __u64* known;
  __u64 old_frame;
  __u32* from;
  __u32* to;
  __u32 owner;
  __u32 target_owner;
  if (!is_on) return 0;
  known = bpf_map_lookup_elem(&moves, &move);
  if (!known) {
    __sync_fetch_and_add(&faults.unmatched_moves, 1);
    return 0;
  }
  old_frame = *known;
  bpf_map_delete_elem(&moves, &move);
  if (old_frame == new_frame) return 0;  // it stayed where it was
  from = entry_of(old_frame);
  to = entry_of(new_frame);
  if (!from || !to) return 0;
  owner = *from;
  // Mapped more than once: the first mapping has moved the owner already.
  if (owner == TM_FRAME_MOVED) return 0;
  target_owner = *to;
  *from = TM_FRAME_MOVED;
  *to = owner;
  // Whoever moved it has not taken a page for itself. What was there before we
  // looked remains nobody's.
  if (target_owner && target_owner != TM_FRAME_MOVED) book(target_owner, -1);
  __sync_fetch_and_add(&faults.moved, 1);
  return 0;
}

// --- names
// -------------------------------------------------------------------------

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args* context) {
  const struct task_struct* task = bpf_get_current_task_btf();
  const __u32 number = find_task(0);
  const __u32 index = number - 1;
  struct tm_trace_task* entry;
  const struct mm_struct* mm;
  __u64 first;
  __u64 size;
  if (!number || !is_on) return 0;
  entry = bpf_map_lookup_elem(&tasks, &index);
  if (!entry) return 0;
  fill_task(task, entry);
  mm = BPF_CORE_READ(task, mm);
  first = BPF_CORE_READ(mm, arg_start);
  size = BPF_CORE_READ(mm, arg_end) - first;
  if (size > TM_COMMAND_BYTES) size = TM_COMMAND_BYTES;
  __builtin_memset(entry->command, 0, sizeof(entry->command));
  if (!bpf_probe_read_user(entry->command, size, (void*)first))
    entry->flags |= TM_TASK_HAS_COMMAND;
  return 0;
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args* context) {
  const struct task_struct* task = bpf_get_current_task_btf();
  struct tm_trace_task* entry;
  __u32 number;
  __u32 index;
  if (!is_on || BPF_CORE_READ(task, signal, live.counter) > 0) return 0;
  number = find_task(0);
  index = number - 1;
  entry = bpf_map_lookup_elem(&tasks, &index);
  if (entry) entry->flags |= TM_TASK_EXITED;
  return 0;
}
