// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Follows a tree of processes and the height of its memory.
//
// Every change of a resident-page counter (kmem:rss_stat) of an address space
// in the tree does two things. It brings the maximum of that space up to date,
// so that each process has its true peak however short it lived; and it
// compares the height of the whole tree (what its control group is charged, or
// else the sum of its resident pages) with the next mark, and wakes user space
// when the mark is passed. Nothing is sent for the other 99.99 % of the events.
//
// Spaces are found by their mm and never by the current task: fork, exec and
// exit change counters of an mm that is not current's.
#include "kernel_types.h"
// The order matters: the helpers need the types.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "events.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum {
  kCloneVm = 0x100,
  kCloneThread = 0x10000,
  kSigStop = 19,
  kSignalGroupExit = 4,   // SIGNAL_GROUP_EXIT
  kSwapMember = 2,        // counts what is not resident
  kExactPages = 16384,    // 64 MiB: up to here every event is summed exactly
  kFirstStepPages = 64,   // the kernel charges in batches of that many
  kLeastStepPages = 256,  // 1 MiB: once there is that much to look at
  kMaximumTries = 8,
};

// --- set by user space before loading ---------------------------------------
// Yes and no are bytes: the skeleton would call a bool _Bool, which C++ lacks.

const volatile __u64 namespace_device = 0;
const volatile __u64 namespace_inode = 0;
const volatile __u32 tool_pid = 0;
const volatile __u32 cpu_count = 1;
const volatile __u8 follows_descendants = 1;
const volatile __u8 height_is_charge = 0;
const volatile __u8 stops_at_crossing = 0;

// --- shared with user space while running ------------------------------------

// The next child of the tool is the root of the tree.
__u8 adopts_next_child = 0;
// Distance from one per-CPU copy of anything to the next, by CPU.
__u64 cpu_offset[TM_CPU_LIMIT] = {};
__u8 has_cpu_offsets = 0;

__u64 next_mark_pages = 0;
__u64 step_permille = 62;
__u64 highest_pages = 0;
__u64 highest_ns = 0;
__u64 resident_pages = 0;  // of all spaces of the tree now
__u64 highest_resident_pages = 0;
__u64 highest_resident_ns = 0;
__u64 charge_counter = 0;  // address of the tree group's page counter

__u64 lost_processes = 0;  // no room in a map
__u64 lost_records = 0;    // no room in the ring
__u64 process_count = 0;
__u32 namespace_level = 0;

// For finding cpu_offset.
__u64 percpu_address[TM_CPU_LIMIT] = {};
__u8 map_image[1024] = {};  // the map itself, up to its base pointer
__u32 base_offset = 0;      // of the base pointer in it

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 65536);
  __type(key, __u64);
  __type(value, struct tm_space);
} spaces SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 65536);
  __type(key, __u32);  // tgid in the first namespace
  __type(value, struct tm_process);
} processes SEC(".maps");

// Pids (of the tool's namespace) that adopt_running looks for.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, __u32);
  __type(value, __u8);
} wanted SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4 << 20);
} records SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} probe_percpu SEC(".maps");

// --- counters of an address space
// ---------------------------------------------

static __always_inline bool has_percpu_counters(void) {
  return !bpf_core_type_exists(struct mm_rss_stat);
}

// The two layouts are functions of their own: inlined, the compiler lifts the
// offset of one out of its branch, and the verifier meets an access that this
// kernel does not have.
static __noinline __s64 plain_count(const struct mm_struct* mm, __u32 member) {
  __s64 count = 0;
  bpf_probe_read_kernel(
      &count, sizeof(count),
      (const void*)mm +
          bpf_core_field_offset(struct mm_struct___counts, rss_stat) +
          member * sizeof(long));
  return count;
}

static __noinline __s64 shared_count(const struct mm_struct* mm, __u32 member) {
  __s64 count = 0;
  bpf_probe_read_kernel(
      &count, sizeof(count),
      (const void*)mm + bpf_core_field_offset(struct mm_struct, rss_stat) +
          member * bpf_core_type_size(struct percpu_counter) +
          bpf_core_field_offset(struct percpu_counter, count));
  return count;
}

// The part of a counter all CPUs share. It lags behind by less than a batch per
// CPU; up to 6.1 by less than 64 events per thread.
static __always_inline __s64 batched_count(const struct mm_struct* mm,
                                           __u32 member) {
  return has_percpu_counters() ? shared_count(mm, member)
                               : plain_count(mm, member);
}

static __noinline __s64 sum_of_cpus(const struct mm_struct* mm, __u32 member) {
  __s64 sum = 0;
  __u64 counters = 0;
  const void* counter;
  counter = (const void*)mm +
            bpf_core_field_offset(struct mm_struct, rss_stat) +
            member * bpf_core_type_size(struct percpu_counter) +
            bpf_core_field_offset(struct percpu_counter, counters);
  bpf_probe_read_kernel(&counters, sizeof(counters), counter);
  for (__u32 cpu = 0; cpu < TM_CPU_LIMIT; ++cpu) {
    __s32 part = 0;
    if (cpu >= cpu_count) break;
    bpf_probe_read_kernel(&part, sizeof(part),
                          (const void*)(counters + cpu_offset[cpu]));
    sum += part;
  }
  return sum;
}

// What the CPUs have not handed in yet.
static __always_inline __s64 percpu_part(const struct mm_struct* mm,
                                         __u32 member) {
  if (!has_percpu_counters() || !has_cpu_offsets) return 0;
  return sum_of_cpus(mm, member);
}

// Raises *highest to `value` and returns whether that was one. Several CPUs may
// try at once; who gives up after a few tries has lost to a higher one.
static __always_inline bool raise(__u64* highest, __u64 value) {
  for (int i = 0; i < kMaximumTries; ++i) {
    __u64 seen = *(volatile __u64*)highest;
    if (value <= seen) return false;
    if (__sync_val_compare_and_swap(highest, seen, value) == seen) return true;
  }
  return false;
}

static __always_inline void add_resident(__s64 pages) {
  __u64 now = __sync_fetch_and_add(&resident_pages, pages) + pages;
  if (pages > 0 && (__s64)now > 0 && raise(&highest_resident_pages, now)) {
    highest_resident_ns = bpf_ktime_get_ns();
  }
}

// The compiler drops a mask whose need it does not see; the verifier wants it.
static __always_inline __u32 bounded(__u32 member) {
  barrier_var(member);
  return member & (TM_MEMBER_COUNT - 1);
}

// Sums one counter. By exchange, so that whatever two CPUs do at once, the
// total stays the sum of the members.
static __always_inline void sum_member(struct tm_space* space,
                                       const struct mm_struct* mm, __u32 member,
                                       __s64 batched) {
  __s64 now = batched + percpu_part(mm, member);
  __s64 delta;
  __u64 total;
  if (now < 0) now = 0;
  member = bounded(member);
  space->batched[member] = batched;
  delta = now - (__s64)__sync_lock_test_and_set(&space->pages[member], now);
  if (delta == 0) return;
  total = __sync_fetch_and_add(&space->total_pages, delta) + delta;
  raise(&space->peak_pages, total);
  add_resident(delta);
}

static __always_inline void sum_all(struct tm_space* space,
                                    const struct mm_struct* mm) {
  for (__u32 member = 0; member < TM_MEMBER_COUNT; ++member) {
    if (member == kSwapMember) continue;
    sum_member(space, mm, member, batched_count(mm, member));
  }
}

// --- the gate
// ------------------------------------------------------------------

static __always_inline __u64 height_now(void) {
  __u64 pages = 0;
  if (!height_is_charge) return resident_pages;
  if (charge_counter) {
    bpf_probe_read_kernel(&pages, sizeof(pages), (const void*)charge_counter);
  }
  return pages;
}

static __always_inline bool is_followed(__u32 tgid) {
  return bpf_map_lookup_elem(&processes, &tgid) != 0;
}

static __always_inline void pass_gate(void) {
  const __u64 height = height_now();
  __u64 mark;
  __u32 tgid = 0;
  if (height > highest_pages && raise(&highest_pages, height)) {
    highest_ns = bpf_ktime_get_ns();
  }
  mark = *(volatile __u64*)&next_mark_pages;
  if (height < mark) return;
  if (stops_at_crossing) {
    tgid = bpf_get_current_pid_tgid() >> 32;
    // A stranger (reclaim, ptrace) must neither be stopped nor use up the mark.
    if (!is_followed(tgid)) return;
  }
  __u64 step = height * step_permille / 1000;
  __u64 least = height / 2;
  if (least < kFirstStepPages) least = kFirstStepPages;
  if (least > kLeastStepPages) least = kLeastStepPages;
  if (step < least) step = least;
  const __u64 next = height + step;
  if (__sync_val_compare_and_swap(&next_mark_pages, mark, next) != mark) return;
  struct tm_new_high* record =
      bpf_ringbuf_reserve(&records, sizeof(*record), 0);
  if (!record) {
    __sync_fetch_and_add(&lost_records, 1);
    return;
  }
  record->kind = TM_RECORD_NEW_HIGH;
  record->stopped_pid = 0;
  record->time_ns = bpf_ktime_get_ns();
  record->height_pages = height;
  if (stops_at_crossing && bpf_send_signal(kSigStop) == 0) {
    const struct tm_process* process = bpf_map_lookup_elem(&processes, &tgid);
    if (process) record->stopped_pid = process->pid;
  }
  bpf_ringbuf_submit(record, BPF_RB_FORCE_WAKEUP);
}

SEC("tp_btf/rss_stat")
int BPF_PROG(on_rss_stat, struct mm_struct* mm, int member) {
  const __u64 key = (__u64)mm;
  struct tm_space* space = bpf_map_lookup_elem(&spaces, &key);
  __s64 batched;
  if (!space || member < 0 || member >= TM_MEMBER_COUNT) return 0;
  if (member != kSwapMember) {
    batched = batched_count(mm, member);
    // Of a large space only every batch is summed: one event in about 32.
    if (space->total_pages < kExactPages ||
        batched != space->batched[bounded(member)]) {
      sum_member(space, mm, member, batched);
    }
  }
  pass_gate();
  return 0;
}

// Page cache grows without any address space: only asked for when that matters,
// because it costs every allocation of the machine.
SEC("?tp_btf/mm_page_alloc")
int BPF_PROG(on_page_alloc) {
  pass_gate();
  return 0;
}

// --- the tree
// -------------------------------------------------------------------

static __always_inline __u32 namespace_pid(const struct task_struct* task) {
  const struct task_struct* leader = BPF_CORE_READ(task, group_leader);
  const struct pid* pid = BPF_CORE_READ(leader, thread_pid);
  int number = 0;
  const void* at = (const void*)pid +
                   bpf_core_field_offset(struct pid, numbers) +
                   namespace_level * bpf_core_type_size(struct upid) +
                   bpf_core_field_offset(struct upid, nr);
  bpf_probe_read_kernel(&number, sizeof(number), at);
  return number;
}

static __always_inline void enter_space(struct tm_process* process, __u32 tgid,
                                        struct mm_struct* mm) {
  const __u64 key = (__u64)mm;
  struct tm_space* space;
  process->space = key;
  space = bpf_map_lookup_elem(&spaces, &key);
  if (space) {
    __sync_fetch_and_add(&space->user_count, 1);
    return;
  }
  struct tm_space fresh = {.user_count = 1, .owner = tgid};
  if (bpf_map_update_elem(&spaces, &key, &fresh, BPF_NOEXIST) != 0) {
    __sync_fetch_and_add(&lost_processes, 1);
    return;
  }
  space = bpf_map_lookup_elem(&spaces, &key);
  if (space) sum_all(space, mm);
}

// Returns the peak of the space it leaves, or of the one that ended under it.
static __always_inline __u64 leave_space(struct tm_process* process) {
  const __u64 key = process->space;
  struct tm_space* space = bpf_map_lookup_elem(&spaces, &key);
  __u64 peak = process->peak_pages;
  process->space = 0;
  process->peak_pages = 0;
  if (!space) return peak;
  peak = space->peak_pages;
  if (__sync_fetch_and_add(&space->user_count, -1) > 1) return peak;
  add_resident(-(__s64)space->total_pages);
  bpf_map_delete_elem(&spaces, &key);
  return peak;
}

// A space ends before its process tells: at exec on every kernel, and at exit
// as well before 6.16. From here on its address may be the next fork's, which
// would inherit the peak (in a test on one CPU every fourth did). The
// tracepoint came with 6.1.
SEC("tp_btf/exit_mmap")
int BPF_PROG(on_space_end, struct mm_struct* mm) {
  const __u64 key = (__u64)mm;
  const struct tm_space* space = bpf_map_lookup_elem(&spaces, &key);
  struct tm_process* process;
  __u32 owner;
  if (!space) return 0;
  owner = space->owner;
  process = bpf_map_lookup_elem(&processes, &owner);
  if (process && process->space == key) {
    process->space = 0;
    process->peak_pages = space->peak_pages;
  }
  add_resident(-(__s64)space->total_pages);
  bpf_map_delete_elem(&spaces, &key);
  return 0;
}

static __always_inline bool is_tool(void) {
  struct bpf_pidns_info info = {};
  if (bpf_get_ns_current_pid_tgid(namespace_device, namespace_inode, &info,
                                  sizeof(info)) != 0) {
    return false;
  }
  return info.tgid == tool_pid;
}

static __always_inline void find_charge_counter(struct task_struct* task) {
  const struct css_set* groups = BPF_CORE_READ(task, cgroups);
  const __u64 id = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
  __u64 group = 0;
  bpf_probe_read_kernel(&group, sizeof(group),
                        (const void*)groups +
                            bpf_core_field_offset(struct css_set, subsys) +
                            id * sizeof(void*));
  // The css is the first member of mem_cgroup, by the kernel's own rule.
  if (group) {
    charge_counter = group + bpf_core_field_offset(struct mem_cgroup, memory) +
                     bpf_core_field_offset(struct page_counter, usage);
  }
}

static __always_inline void add_process(struct task_struct* task,
                                        const struct tm_process* parent,
                                        __u32 flags) {
  const __u32 tgid = BPF_CORE_READ(task, tgid);
  struct mm_struct* mm = BPF_CORE_READ(task, mm);
  struct tm_process process = {.kind = TM_RECORD_EXIT, .flags = flags};
  process.started_ns = bpf_ktime_get_ns();
  if (parent) {
    process.parent_pid = parent->pid;
    __builtin_memcpy(process.path, parent->path, sizeof(process.path));
  }
  process.pid = namespace_pid(task);
  bpf_probe_read_kernel_str(process.comm, sizeof(process.comm), task->comm);
  if (mm) enter_space(&process, tgid, mm);
  if (bpf_map_update_elem(&processes, &tgid, &process, BPF_ANY) != 0) {
    leave_space(&process);
    __sync_fetch_and_add(&lost_processes, 1);
    return;
  }
  __sync_fetch_and_add(&process_count, 1);
}

// The root of the tree, while it still runs the tool's own image: what it holds
// until exec is not the command's.
static __always_inline void adopt_child(struct task_struct* task) {
  const __u32 tgid = BPF_CORE_READ(task, tgid);
  struct tm_process process = {.kind = TM_RECORD_EXIT};
  adopts_next_child = 0;
  process.pid = namespace_pid(task);
  process.parent_pid = tool_pid;
  process.started_ns = bpf_ktime_get_ns();
  if (bpf_map_update_elem(&processes, &tgid, &process, BPF_ANY) == 0) {
    __sync_fetch_and_add(&process_count, 1);
  }
}

SEC("tp_btf/task_newtask")
int BPF_PROG(on_new_task, struct task_struct* task, __u64 clone_flags) {
  __u32 parent_tgid = bpf_get_current_pid_tgid() >> 32;
  const struct tm_process* parent;
  if (clone_flags & kCloneThread) return 0;
  if (adopts_next_child && is_tool()) {
    adopt_child(task);
    return 0;
  }
  parent = bpf_map_lookup_elem(&processes, &parent_tgid);
  if (!parent || !follows_descendants) return 0;
  add_process(task, parent,
              (clone_flags & kCloneVm) ? TM_PROCESS_SHARES_SPACE : 0);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct* task, int old_pid,
             struct linux_binprm* bprm) {
  const __u32 tgid = BPF_CORE_READ(task, tgid);
  struct tm_process* process = bpf_map_lookup_elem(&processes, &tgid);
  __u64 peak;
  if (!process) return 0;
  if (height_is_charge && !charge_counter) find_charge_counter(task);
  peak = leave_space(process);
  // A copy of the parent before exec is not what this process is made of.
  if (process->image_count > 0 && peak > process->earlier_peak_pages) {
    process->earlier_peak_pages = peak;
  }
  ++process->image_count;
  process->flags |= TM_PROCESS_HAS_EXECED;
  process->flags &= ~TM_PROCESS_SHARES_SPACE;
  bpf_probe_read_kernel_str(process->path, sizeof(process->path),
                            BPF_CORE_READ(bprm, filename));
  bpf_probe_read_kernel_str(process->comm, sizeof(process->comm), task->comm);
  enter_space(process, tgid, BPF_CORE_READ(task, mm));
  pass_gate();
  return 0;
}

// As wait() makes it: what ends all threads at once counts, also where the
// first of them had ended before.
static __always_inline int wait_status(const struct task_struct* task) {
  const struct signal_struct* signal = BPF_CORE_READ(task, signal);
  if (BPF_CORE_READ(signal, flags) & kSignalGroupExit) {
    return BPF_CORE_READ(signal, group_exit_code);
  }
  return BPF_CORE_READ(task, group_leader, exit_code);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct* task) {
  const __u32 tgid = BPF_CORE_READ(task, tgid);
  struct tm_process* process;
  if (BPF_CORE_READ(task, signal, live.counter) != 0) return 0;
  process = bpf_map_lookup_elem(&processes, &tgid);
  if (!process) return 0;
  process->ended_ns = bpf_ktime_get_ns();
  process->exit_code = wait_status(task);
  process->peak_pages = leave_space(process);
  bpf_probe_read_kernel_str(process->comm, sizeof(process->comm), task->comm);
  // Without a wake-up: the reader comes by often enough, and a build ends
  // thousands of processes.
  if (bpf_ringbuf_output(&records, process, sizeof(*process),
                         BPF_RB_NO_WAKEUP) != 0) {
    __sync_fetch_and_add(&lost_records, 1);
  }
  bpf_map_delete_elem(&processes, &tgid);
  return 0;
}

// --- run once by user space
// --------------------------------------------------------

// Processes that were there before us.
SEC("iter/task")
int adopt_running(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  __u32 tgid;
  __u32 pid;
  if (!task) return 0;
  tgid = task->tgid;
  if (task->pid != task->tgid || is_followed(tgid)) return 0;
  pid = namespace_pid(task);
  if (!bpf_map_lookup_elem(&wanted, &pid)) return 0;
  if (height_is_charge && !charge_counter) find_charge_counter(task);
  add_process(task, 0, TM_PROCESS_WAS_THERE);
  return 0;
}

// Run by the tool itself: its own namespace is the one pids are given in.
//
// The kernel does not export where per-CPU copies lie. A per-CPU map of our own
// tells: its element on a CPU less the map's base is the distance we want. The
// subtraction is left to user space, since the verifier forbids it here.
SEC("syscall")
int look_around(void* context) {
  const struct task_struct* tool = (void*)bpf_get_current_task();
  const __u32 zero = 0;
  __u32 size;
  namespace_level = BPF_CORE_READ(tool, thread_pid, level);
  for (__u32 cpu = 0; cpu < TM_CPU_LIMIT; ++cpu) {
    if (cpu >= cpu_count) break;
    percpu_address[cpu] =
        (__u64)bpf_map_lookup_percpu_elem(&probe_percpu, &zero, cpu);
  }
  base_offset = bpf_core_field_offset(struct bpf_array, pptrs);
  size = base_offset + sizeof(void*);
  if (size > sizeof(map_image)) return 1;
  return bpf_probe_read_kernel(map_image, size, &probe_percpu) != 0;
}
