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
#include "tree_spaces.h"
#include "tree_tables.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum {
  kCloneVm = 0x100,
  kCloneThread = 0x10000,
  kSigStop = 19,
  kSignalGroupExit = 4,   // SIGNAL_GROUP_EXIT
  kExactPages = 16384,    // 64 MiB: up to here every event is summed exactly
  kFirstStepPages = 64,   // the kernel charges in batches of that many
  kLeastStepPages = 256,  // 1 MiB: once there is that much to look at
  kMostGroupLevels = 64,
};

// --- the gate ----------------------------------------------------------------

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
  __u64 height = height_now();
  const __s64 outside = *(volatile __s64*)&outside_pages;
  __u64 mark;
  __u32 tgid = 0;
  if (height > highest_pages && raise(&highest_pages, height)) {
    highest_ns = bpf_ktime_get_ns();
  }
  // What they held when they left is charged to the group all the same and so
  // counts twice: good enough for when to look.
  if (height_is_charge && outside > 0) height += outside;
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

// --- the tree ----------------------------------------------------------------

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
  fresh.is_outside = (process->flags & TM_PROCESS_IS_OUTSIDE) != 0;
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
  add_pages(space, -(__s64)space->total_pages);
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
  add_pages(space, -(__s64)space->total_pages);
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

// 0 when it cannot be read.
static __always_inline __u64 memory_group(const struct task_struct* task) {
  const struct css_set* groups = BPF_CORE_READ(task, cgroups);
  const __u64 id = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
  __u64 group = 0;
  bpf_probe_read_kernel(&group, sizeof(group),
                        (const void*)groups +
                            bpf_core_field_offset(struct css_set, subsys) +
                            id * sizeof(void*));
  return group;
}

// Groups below the tree's own are charged to it as well.
static __always_inline bool is_outside(const struct task_struct* task) {
  __u64 group;
  if (!tree_group) return false;
  group = memory_group(task);
  if (!group) return false;
  for (__u32 level = 0; level < kMostGroupLevels && group; ++level) {
    if (group == tree_group) return false;
    const void* at = (const void*)group +
                     bpf_core_field_offset(struct cgroup_subsys_state, parent);
    group = 0;
    bpf_probe_read_kernel(&group, sizeof(group), at);
  }
  return true;
}

static __always_inline void note_outside(struct tm_process* process) {
  if (!(process->flags & TM_PROCESS_HAS_LEFT)) {
    __sync_fetch_and_add(&left_count, 1);
  }
  process->flags |= TM_PROCESS_IS_OUTSIDE | TM_PROCESS_HAS_LEFT;
}

static __always_inline void find_charge_counter(struct task_struct* task) {
  const __u64 group = memory_group(task);
  tree_group = group;
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
  // With its parent, or by clone3() alone.
  if (is_outside(task)) note_outside(&process);
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

// A process was moved to another group, by itself or by a manager.
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_group_change, struct cgroup* group, const char* path,
             struct task_struct* task) {
  const __u32 tgid = BPF_CORE_READ(task, tgid);
  struct tm_process* process = bpf_map_lookup_elem(&processes, &tgid);
  struct tm_space* space;
  bool is_now_outside;
  __u64 key;
  if (!process) return 0;
  is_now_outside = is_outside(BPF_CORE_READ(task, group_leader));
  if (is_now_outside) {
    note_outside(process);
  } else {
    process->flags &= ~TM_PROCESS_IS_OUTSIDE;
  }
  key = process->space;
  space = bpf_map_lookup_elem(&spaces, &key);
  if (!space || space->is_outside == is_now_outside) return 0;
  space->is_outside = is_now_outside;
  __sync_fetch_and_add(&outside_pages, is_now_outside
                                           ? (__s64)space->total_pages
                                           : -(__s64)space->total_pages);
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

// --- run once by user space --------------------------------------------------

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
