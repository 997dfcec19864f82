// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tells which code of which program took pages, of a sample of them, and when
// they are given back.
//
// Programs are built without frame pointers, so the way into the kernel cannot
// be unwound here: a record has the registers and the top of the stack, and
// user space unwinds those. That is dear, and so only a sample is told of,
// which becomes rarer when there is much to tell: each record says how many
// pages its own stand for. A block of 2^order pages is as likely to be told of
// as 2^order pages would be, and certain where that is more than the period.
//
// Frames that were told of are marked, a bit for each, and a free of one with a
// mark is told of: whoever gives it back, after whatever time.
//
// Every page that anybody takes or gives back comes through here, so most leave
// by arithmetic alone. A look at the marks is a cache miss as a rule, and was
// half of what the free of a page cost others (25-60 ns of an empty hook's 46).
#include "common.h"
// The order matters: it needs the kernel's integer names.
#include "user.h"
// The order matters: it brings the helpers.
#include "known_page.h"
#include "user_stacks.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum {
  kMostOrder = 20,
  kWordShift = 6,
  kGranuleWords = 1 << (TM_USER_GRANULE_SHIFT - kWordShift),
  // The first samples of a process are told of soon: what is mapped into it
  // must be read while it lives.
  kUrgentSamples = 8,
  // Soon: of a shell that starts programs a seventh went into waking whoever
  // reads at once.
  kWakePauseNs = 2000000,
  // Later so many together: waking somebody costs more than a sample does.
  kWakeEvery = 256,
};
#define NS_PER_S 1000000000ULL

SEC("syscall")
int look_around(void* context) {
  known.page_struct_bytes = bpf_core_type_size(struct page);
  known.address = first_page_of(known.fd);
  return 0;
}

// --- marks -------------------------------------------------------------------

static __always_inline __u64 frame_of(__u64 page) {
  // A constant once it is loaded, by which one of the two is left.
  const __u32 page_struct_bytes = bpf_core_type_size(struct page);
  if (page_struct_bytes == 64) return (page - page_array) >> 6;
  return (page - page_array) / page_struct_bytes;
}

// Of a word of its granule.
static __always_inline __u32 word_index(__u64 frame, __u32 index) {
  const __u64 first = frame >> TM_USER_GRANULE_SHIFT
                                   << (TM_USER_GRANULE_SHIFT - kWordShift);
  return (first + index) % TM_USER_WORDS;
}

static __always_inline __u64* word_of(__u64 frame) {
  const __u32 section = frame >> TM_USER_SECTION_SHIFT;
  struct tm_user_marks* found;
  if (frame >> TM_USER_SECTION_SHIFT >= section_count) return 0;
  found = bpf_map_lookup_elem(&marks, &section);
  if (!found) return 0;
  return &found->words[(frame >> kWordShift) % TM_USER_WORDS];
}

// By the address of the page's struct, which is at hand. The upper bits are
// well mixed.
static __always_inline __u64 hash_of(__u64 page) {
  __u64 hash = page * 0xd6e8feb86659fd93;
  hash ^= hash >> 32;
  return hash * 0xd6e8feb86659fd93;
}

static __always_inline bool is_sampled(__u64 page, __u32 order, __u32 shift) {
  return order >= shift || !(hash_of(page) >> (64 - (shift - order)));
}

// Of a page that was taken alone it tells whether it can have a mark: whatever
// the period is, it is a multiple of the least.
static __always_inline bool can_be_sampled(__u64 page) {
  return hash_of(page) <= highest_sampled;
}

static __always_inline __u64* granules_of(__u64 frame) {
  return &block_granules[(frame >> TM_USER_SECTION_SHIFT) %
                         TM_USER_GRANULE_WORDS];
}

static __always_inline __u64 granule_bit(__u64 frame) {
  return 1ULL << ((frame >> TM_USER_GRANULE_SHIFT) & 63);
}

// After the last mark of its granule. Whoever marks a block meanwhile does so
// before it names the granule: one of the two sees the other.
static __always_inline void leave_granule(__u64 frame) {
  const __u32 section = frame >> TM_USER_SECTION_SHIFT;
  const struct tm_user_marks* found;
  __u64 marked = 0;
  // Several share a bit there.
  if (section_count > TM_USER_GRANULE_WORDS) return;
  if (!(*(volatile __u64*)granules_of(frame) & granule_bit(frame))) return;
  found = bpf_map_lookup_elem(&marks, &section);
  if (!found) return;
  for (__u32 i = 0; i < kGranuleWords; ++i)
    marked |= *(volatile __u64*)&found->words[word_index(frame, i)];
  if (marked) return;
  __sync_fetch_and_and(granules_of(frame), ~granule_bit(frame));
  for (__u32 i = 0; i < kGranuleWords; ++i)
    marked |= *(volatile __u64*)&found->words[word_index(frame, i)];
  if (marked) __sync_fetch_and_or(granules_of(frame), granule_bit(frame));
}

// Of a block within one word.
static __always_inline __u64 bits_of(__u64 frame, __u32 order) {
  const __u64 all =
      order >= kWordShift ? ~0ULL : (1ULL << (1U << (order & 7))) - 1;
  return all << (frame & 63);
}

// A callback may only be handed what lies on the caller's stack.
struct tm_word_walk {
  __u64 frame;
  __u32 order;
};

static long mark_word(__u32 index, void* context) {
  const struct tm_word_walk* walk = context;
  const __u64 frame = walk->frame + ((__u64)index << kWordShift);
  __u64* word = word_of(frame);
  if (!word) {
    __sync_fetch_and_add(&faults.out_of_range, 1);
    return 1;
  }
  __sync_fetch_and_or(word, bits_of(frame, walk->order));
  if (walk->order) {
    __sync_fetch_and_or(granules_of(frame), granule_bit(frame));
    has_blocks = 1;
  }
  return 0;
}

static long unmark_word(__u32 index, void* context) {
  const struct tm_word_walk* walk = context;
  const __u64 frame = walk->frame + ((__u64)index << kWordShift);
  const __u64 bits = bits_of(frame, walk->order);
  __u64* word = word_of(frame);
  struct tm_user_given* record;
  __u64 marked;
  if (!word) return 1;
  if (!(*(volatile __u64*)word & bits)) return 0;
  marked = __sync_fetch_and_and(word, ~bits) & bits;
  if (!marked) return 0;
  leave_granule(frame);
  record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
  if (!record) {
    __sync_fetch_and_add(&faults.lost_records, 1);
    return 0;
  }
  record->kind = TM_USER_GIVEN;
  record->reserved = 0;
  record->frame = frame & ~63ULL;
  record->bits = marked;
  bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
  return 0;
}

// --- how many ----------------------------------------------------------------

// What of the ring may be used for samples. The last part of it is for frees: a
// sample can be left out, a page that was given back cannot.
static __always_inline __s64 room_for_samples(void) {
  const __s64 used = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA);
  return TM_USER_RING_BYTES - TM_USER_RING_BYTES / 8 - used;
}

// Samples are allowed as a rate, of which a second's worth may be saved up. The
// less is left of that, or of the ring, the rarer they become, so that no burst
// is cut off: what is sampled depends on the past alone, and each sample knows
// its weight. By halves, since who reads is late at the start of a program,
// when it reads the files of that: a sample that became rare at once would tell
// nothing of what the program does first.
static __always_inline __u32 period_shift(void) {
  const __u64 now = bpf_ktime_get_ns();
  const __s64 most = samples_per_second;
  const __u64 passed = now - allowance_ns;
  const __s64 room = room_for_samples();
  __s64 left = allowance;
  if (passed * most >= NS_PER_S) {
    left += passed > NS_PER_S ? most : passed * most / NS_PER_S;
    if (left > most) left = most;
    allowance = left;
    allowance_ns = now;
  }
  for (__u32 rarer = 0; rarer < TM_USER_MOST_RARER; ++rarer)
    if (left > most >> (rarer + 1) && room > TM_USER_RING_BYTES >> (rarer + 1))
      return least_shift + rarer;
  return least_shift + TM_USER_MOST_RARER;
}

// Of all that is a matter of chance, told of or not: where a sample is rare it
// may have nothing of what was taken meanwhile, and still has to say so.
static __always_inline void note_density(__u32 order, __u32 shift) {
  const __u64 pages = 1ULL << (order > least_shift ? order : least_shift);
  if (order >= shift) return;
  __sync_fetch_and_add(&density.pages, pages);
  __sync_fetch_and_add(&density.weights, pages << shift);
}

// --- waking ------------------------------------------------------------------

// What may be woken for at `now_ns`. Whatever came too soon after the last time
// is for the next to tell of; whoever reads looks several times a second
// anyway.
static __always_inline __u64 wake_flag(bool is_urgent, __u64 now_ns) {
  if (!is_urgent && !is_awaited) return BPF_RB_NO_WAKEUP;
  is_awaited = now_ns - woken_ns < kWakePauseNs;
  if (is_awaited) return BPF_RB_NO_WAKEUP;
  woken_ns = now_ns;
  return BPF_RB_FORCE_WAKEUP;
}

// --- pages -------------------------------------------------------------------

static __noinline int take_page(struct bpf_raw_tracepoint_args* context) {
  const __u64 page = context->args[0];
  const __u32 order = context->args[1];
  struct tm_word_walk walk;
  struct tm_user_process* process;
  struct tm_user_taken* record;
  __u64 sample;
  __u64 frame;
  __u32 shift;
  __u32 tgid;
  if (!is_sampled(page, order, least_shift)) return 0;
  if (!is_on || !page || order > kMostOrder) return 0;
  tgid = bpf_get_current_pid_tgid() >> 32;
  process = bpf_map_lookup_elem(&followed, &tgid);
  if (!process) return 0;
  shift = period_shift();
  note_density(order, shift);
  if (!is_sampled(page, order, shift)) return 0;
  record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
  if (!record) {
    __sync_fetch_and_add(&faults.lost_pages,
                         1ULL << (shift > order ? shift : order));
    return 0;
  }
  if (allowance > 0) __sync_fetch_and_add(&allowance, -1);
  frame = frame_of(page);
  record->kind = TM_USER_TAKEN;
  record->tgid = tgid;
  record->tid = bpf_get_current_pid_tgid();
  record->order = order;
  record->weight = shift > order ? shift - order : 0;
  record->reserved = 0;
  record->frame = frame;
  record->time_ns = bpf_ktime_get_ns();
  sample = __sync_fetch_and_add(&process->sample_count, 1);
  // What is not copied is not touched: most of a sample's price is that its
  // part of the ring is in no cache.
  fill_taken(context, record,
             sample % TM_USER_WHOLE_EVERY && process->stack_steps
                 ? process->stack_steps
                 : TM_USER_STEPS);
  walk.frame = frame;
  walk.order = order;
  if (order <= kWordShift)
    mark_word(0, &walk);
  else
    bpf_loop(1U << (order - kWordShift), mark_word, &walk, 0);
  bpf_ringbuf_submit(
      record, wake_flag(sample < kUrgentSamples || sample % kWakeEvery == 0,
                        record->time_ns));
  return 0;
}

// Most of what is taken, by whomever, ends here. What saves registers or needs
// a stack is a function of its own, so that this need not.
SEC("raw_tp/mm_page_alloc")
int on_alloc(struct bpf_raw_tracepoint_args* context) {
  if (!context->args[1] && !can_be_sampled(context->args[0])) return 0;
  return take_page(context);
}

static __always_inline bool is_unmarked(__u64 frame, __u32 order) {
  const __u64* word = word_of(frame);
  return !word || !(*(volatile __u64*)word & bits_of(frame, order));
}

static __noinline int give_page(struct bpf_raw_tracepoint_args* context) {
  const __u64 page = context->args[0];
  const __u32 order = context->args[1];
  const __u64 frame = frame_of(page);
  struct tm_word_walk walk;
  if (!is_on || !page || order > kMostOrder) return 0;
  if (order <= kWordShift && is_unmarked(frame, order)) return 0;
  walk.frame = frame;
  walk.order = order;
  if (order <= kWordShift)
    unmark_word(0, &walk);
  else
    bpf_loop(1U << (order - kWordShift), unmark_word, &walk, 0);
  return 0;
}

// Nearly all that is given back has no mark, and should cost no more than that.
SEC("raw_tp/mm_page_free")
int on_free(struct bpf_raw_tracepoint_args* context) {
  const __u64 page = context->args[0];
  __u64 frame;
  if (!context->args[1] && !can_be_sampled(page)) {
    if (!*(volatile __u32*)&has_blocks) return 0;
    frame = frame_of(page);
    if (!(*(volatile __u64*)granules_of(frame) & granule_bit(frame))) return 0;
  }
  return give_page(context);
}

// --- processes ---------------------------------------------------------------

static __always_inline void tell(struct tm_user_life* life) {
  life->time_ns = bpf_ktime_get_ns();
  if (bpf_ringbuf_output(
          &records, life, sizeof(*life),
          wake_flag(life->kind == TM_USER_EXECED, life->time_ns)))
    __sync_fetch_and_add(&faults.lost_records, 1);
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args* context) {
  const struct task_struct* parent = (void*)context->args[0];
  const struct task_struct* child = (void*)context->args[1];
  struct tm_user_process process = {};
  struct tm_user_life life = {.kind = TM_USER_FORKED};
  life.parent = BPF_CORE_READ(parent, tgid);
  life.tgid = BPF_CORE_READ(child, tgid);
  if (life.parent == life.tgid) return 0;
  if (!bpf_map_lookup_elem(&followed, &life.parent)) return 0;
  if (bpf_map_update_elem(&followed, &life.tgid, &process, BPF_ANY)) {
    __sync_fetch_and_add(&faults.processes_full, 1);
    return 0;
  }
  if (is_on) tell(&life);
  return 0;
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args* context) {
  const struct task_struct* task = bpf_get_current_task_btf();
  struct tm_user_life life = {.kind = TM_USER_EXECED};
  struct tm_user_process* process;
  const struct mm_struct* mm;
  __u64 first;
  __u64 size;
  life.tgid = bpf_get_current_pid_tgid() >> 32;
  process = bpf_map_lookup_elem(&followed, &life.tgid);
  if (!process || !is_on) return 0;
  process->sample_count = 0;
  process->stack_steps = 0;
  bpf_get_current_comm(life.comm, sizeof(life.comm));
  mm = BPF_CORE_READ(task, mm);
  first = BPF_CORE_READ(mm, arg_start);
  size = BPF_CORE_READ(mm, arg_end) - first;
  if (size > TM_USER_COMMAND_BYTES) size = TM_USER_COMMAND_BYTES;
  if (!bpf_probe_read_user(life.command, size, (void*)first))
    life.command_bytes = size;
  tell(&life);
  return 0;
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args* context) {
  const struct task_struct* task = bpf_get_current_task_btf();
  struct tm_user_life life = {.kind = TM_USER_EXITED};
  life.tgid = bpf_get_current_pid_tgid() >> 32;
  if (!bpf_map_lookup_elem(&followed, &life.tgid)) return 0;
  if (BPF_CORE_READ(task, signal, live.counter) > 0) return 0;
  bpf_map_delete_elem(&followed, &life.tgid);
  if (is_on) tell(&life);
  return 0;
}
