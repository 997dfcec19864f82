#include <bpf/bpf.h>
#include <bpf/libbpf.h>
// The order matters: the shared headers need the kernel's integer names.
#include <bpf/known_page.h>
#include <bpf/user.h>
#include <bpf/user.skel.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/page_size.h"
#include "parse/process_files.h"
#include "source/bpf/loading.h"
#include "source/bpf/page_array.h"
#include "source/bpf/trace_tables.h"
#include "source/bpf/user_budget.h"
#include "source/live_trace.h"
#include "source/process_source.h"
#include "source/user_account.h"
#include "source/user_spaces.h"

namespace tidemark::source {
namespace {

struct Destroy {
  void operator()(user_bpf* skeleton) const { user_bpf__destroy(skeleton); }
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};

// Of our own functions on top of each stack of the kernel's. Mostly their names
// tell, as those of the kernel's way to them; a kernel may be told to name no
// BPF programs (bpf_jit_kallsyms).
constexpr uint32_t kOwnFrames = 2;

class UserTrace : public LiveTrace {
 public:
  explicit UserTrace(const Roots& roots) : roots_(roots) {}
  base::Status configure(const TraceOptions& options);

  void go() override;
  void drain() override;
  int wake_fd() const override { return ring_buffer__epoll_fd(ring_.get()); }
  void freeze() override;
  void look() override;
  Height height() const override;
  base::Result<model::Trace> read(const Roots& roots) override;

 private:
  base::Status load();
  base::Status follow(int32_t pid);
  static int take_record(void* context, void* data, size_t size);
  void take(const tm_user_taken& taken);
  void take_life(const tm_user_life& life);
  std::vector<uint32_t> user_frames_of(const tm_user_taken& taken);
  void tell_depth(int32_t pid, uint32_t steps) const;
  void tell_rate() const;
  void add_named(std::string_view symbol, std::vector<uint32_t>& frames);
  void fill_user(model::TraceUser& user) const;
  model::TraceFaults faults_so_far(model::TraceFaults faults) const;

  const Roots& roots_;
  std::unique_ptr<user_bpf, Destroy> skeleton_;
  std::unique_ptr<ring_buffer, Destroy> ring_;
  std::unique_ptr<UserAccount> account_;
  std::unique_ptr<UserSpaces> spaces_;
  std::unordered_map<int32_t, StackDepth> depths_;  // by process
  UnwindingBudget budget_;
  model::TraceUser counts_;
  uint64_t page_size_ = 4096;
  uint64_t kernel_bytes_ = 0;
  uint64_t started_realtime_ns_ = 0;
  uint64_t started_ns_ = 0;
  uint64_t ended_ns_ = 0;
  std::vector<std::string> notes_;
};

base::Status UserTrace::configure(const TraceOptions& options) {
  if (!options.filter.tree_pid) {
    return base::fail(base::ErrorKind::Misused,
                      "stacks of programs are of a process",
                      "--user --pid PID, or --user -- CMD");
  }
  page_size_ = base::page_bytes();
  base::Result<std::vector<MeantCode>> code =
      find_meant_code(roots_, {}, {}, notes_);
  if (!code) return code.error();
  account_ = std::make_unique<UserAccount>(roots_, std::move(*code));
  spaces_ = std::make_unique<UserSpaces>(roots_, account_->frames(), notes_);
  skeleton_.reset(user_bpf__open());
  if (!skeleton_) return bpf_error("cannot open the BPF programs", errno);
  base::Result<Sections> sections = find_sections(roots_, page_size_);
  if (!sections) return sections.error();
  const auto count = static_cast<uint32_t>(sections->first_chunk.size());
  skeleton_->rodata->section_count = count;
  skeleton_->rodata->least_shift =
      static_cast<uint32_t>(std::countr_zero(options.sample_period));
  skeleton_->bss->highest_sampled =
      UINT64_MAX >> skeleton_->rodata->least_shift;
  bpf_map__set_max_entries(skeleton_->maps.marks, count);
  kernel_bytes_ = uint64_t{count} * sizeof(tm_user_marks) + TM_USER_RING_BYTES;
  base::Status status = load();
  if (!status) return status;
  return follow(*options.filter.tree_pid);
}

base::Status UserTrace::load() {
  int result = user_bpf__load(skeleton_.get());
  if (result != 0) return bpf_error("cannot load the BPF programs", -result);
  base::Status status = find_page_array(*skeleton_);
  if (!status) return status;
  ring_.reset(ring_buffer__new(bpf_map__fd(skeleton_->maps.records),
                               take_record, this, nullptr));
  if (!ring_) return bpf_error("cannot map the BPF ring", errno);
  result = user_bpf__attach(skeleton_.get());
  if (result != 0) return bpf_error("cannot attach the BPF programs", -result);
  return base::Ok{};
}

// Forks are followed already: who is born while we look is either listed or
// told of.
base::Status UserTrace::follow(int32_t pid) {
  base::Result<model::ProcessId> target =
      find_process(roots_, std::to_string(pid));
  if (!target) return target.error();
  CollectOptions options;
  options.selection = {{*target}, true};
  const int map = bpf_map__fd(skeleton_->maps.followed);
  const tm_user_process process{};
  // First of all, so that its children are told of.
  bpf_map_update_elem(map, &pid, &process, BPF_ANY);
  base::Result<std::vector<int32_t>> pids =
      ProcessSource(roots_, std::move(options)).choose_pids();
  if (!pids) return pids.error();
  for (int32_t each : *pids) {
    if (bpf_map_update_elem(map, &each, &process, BPF_ANY) != 0) {
      return bpf_error("cannot name a process to BPF", errno);
    }
    account_->tasks().find(each);
  }
  spaces_->follow(pid, *pids);
  return base::Ok{};
}

int UserTrace::take_record(void* context, void* data, size_t size) {
  auto& trace = *static_cast<UserTrace*>(context);
  uint32_t kind = 0;
  if (size < sizeof kind) return 0;
  std::memcpy(&kind, data, sizeof kind);
  switch (kind) {
    case TM_USER_TAKEN:
      trace.take(*static_cast<const tm_user_taken*>(data));
      break;
    case TM_USER_GIVEN: {
      const auto& given = *static_cast<const tm_user_given*>(data);
      trace.account_->give(given.frame, given.bits);
      break;
    }
    default:
      trace.take_life(*static_cast<const tm_user_life*>(data));
  }
  return 0;
}

void UserTrace::take_life(const tm_user_life& life) {
  const uint64_t started_ns = base::thread_cpu_ns();
  const auto pid = static_cast<int32_t>(life.tgid);
  TraceTasks& tasks = account_->tasks();
  switch (life.kind) {
    case TM_USER_FORKED: {
      const auto parent = static_cast<int32_t>(life.parent);
      spaces_->forked(pid, parent);
      tasks.forked(pid, parent, life.time_ns);
      break;
    }
    case TM_USER_EXECED: {
      std::string command(parse::parse_command_line(
          {life.command,
           std::min<size_t>(life.command_bytes, sizeof life.command)}));
      std::ranges::replace(command, '\0', ' ');
      tasks.renamed(pid, text_of(life.comm));
      tasks.execed(pid, std::move(command));
      spaces_->executed(pid);
      depths_.erase(pid);
      break;
    }
    case TM_USER_EXITED:
      tasks.exited(pid);
      spaces_->exited(pid);
      depths_.erase(pid);
      break;
    default:
      break;
  }
  budget_.spent_on_files(base::thread_cpu_ns() - started_ns);
}

void UserTrace::add_named(std::string_view symbol,
                          std::vector<uint32_t>& frames) {
  frames.push_back(
      account_->frames().keep({0, std::string(symbol), 0, {}, {}}));
}

std::vector<uint32_t> UserTrace::user_frames_of(const tm_user_taken& taken) {
  const auto pid = static_cast<int32_t>(taken.tgid);
  const UserDump dump = {
      static_cast<int32_t>(taken.tid),
      {reinterpret_cast<const uint64_t*>(taken.registers), TM_USER_REGISTERS},
      {taken.stack,
       std::min<uint32_t>(taken.stack_bytes, TM_USER_STACK_BYTES)}};
  std::vector<uint32_t> frames;
  std::optional<UserStack> stack = spaces_->unwind(pid, taken.time_ns, dump);
  if (!stack) {
    ++counts_.unmapped_count;
    add_named("[ended before its code was known]", frames);
    return frames;
  }
  frames = std::move(stack->frames);
  const std::optional<uint32_t> steps =
      depths_[pid].learn(stack->used_bytes, stack->is_whole);
  if (steps) tell_depth(pid, *steps);
  if (!stack->is_whole) {
    ++counts_.cut_count;
    add_named(model::kCutFrame, frames);
  }
  return frames;
}

// The count of samples beside it may lose some: it only says when to wake us.
void UserTrace::tell_depth(int32_t pid, uint32_t steps) const {
  const int map = bpf_map__fd(skeleton_->maps.followed);
  tm_user_process process{};
  if (bpf_map_lookup_elem(map, &pid, &process) != 0) return;
  process.stack_steps = steps;
  // Not where it has ended meanwhile.
  bpf_map_update_elem(map, &pid, &process, BPF_EXIST);
}

void UserTrace::take(const tm_user_taken& taken) {
  const uint64_t started_ns = base::thread_cpu_ns();
  ++counts_.sample_count;
  std::vector<uint32_t> frames;
  switch (taken.space) {
    case TM_USER_SPACE:
      frames = user_frames_of(taken);
      break;
    case TM_USER_NEW_SPACE:
      add_named("[a program being loaded]", frames);
      break;
    default:
      add_named("[outside of the program]", frames);
  }
  const uint32_t depth =
      std::min<uint32_t>(taken.kernel_depth, TM_USER_KERNEL_DEPTH);
  UserBlock block;
  block.block = {taken.frame, taken.order};
  block.weight_shift = taken.weight;
  block.pid = static_cast<int32_t>(taken.tgid);
  block.time_ns = taken.time_ns;
  if (depth > kOwnFrames) {
    block.kernel_addresses = {
        reinterpret_cast<const uint64_t*>(taken.kernel) + kOwnFrames,
        depth - kOwnFrames};
  }
  block.user_frames = frames;
  account_->take(block);
  budget_.spent(base::thread_cpu_ns() - started_ns);
  tell_rate();
}

// After each sample: many may wait, and more come meanwhile.
void UserTrace::tell_rate() const {
  __atomic_store_n(
      &skeleton_->data->samples_per_second,
      budget_.samples_per_second(base::monotonic_ns() - started_ns_),
      __ATOMIC_RELAXED);
}

void UserTrace::go() {
  started_realtime_ns_ = base::realtime_ns();
  started_ns_ = base::monotonic_ns();
  skeleton_->bss->is_on = 1;
}

void UserTrace::drain() {
  spaces_->drain();
  ring_buffer__consume(ring_.get());
  spaces_->rest();
  tell_rate();
}

void UserTrace::freeze() {
  if (skeleton_->bss->is_on == 0) return;
  skeleton_->bss->is_on = 0;
  ended_ns_ = base::monotonic_ns();
  user_bpf__detach(skeleton_.get());
  // Waits for all programs that run now.
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
  ring_buffer__consume(ring_.get());
}

void UserTrace::look() {
  account_->look(base::monotonic_ns() - started_ns_);
}

LiveTrace::Height UserTrace::height() const {
  const auto bytes = [this](int64_t pages) {
    return pages > 0 ? static_cast<uint64_t>(pages) * page_size_ : 0;
  };
  return {bytes(account_->sum().pages), bytes(account_->sum().peak_pages)};
}

void UserTrace::fill_user(model::TraceUser& user) const {
  user.sample_count = counts_.sample_count;
  user.cut_count = counts_.cut_count;
  user.unmapped_count = counts_.unmapped_count;
  user.unwinding_ns = budget_.total_ns();
}

model::TraceFaults UserTrace::faults_so_far(model::TraceFaults faults) const {
  const auto& seen = skeleton_->bss->faults;
  faults.lost_events = seen.lost_pages + seen.lost_records;
  faults.out_of_range += seen.out_of_range;
  faults.table_full += seen.processes_full;
  faults.verified_stacks = seen.verified_stacks;
  faults.wrong_stacks = seen.wrong_stacks;
  faults.missed_events =
      recursion_misses({bpf_program__fd(skeleton_->progs.on_alloc),
                        bpf_program__fd(skeleton_->progs.on_free)});
  return faults;
}

base::Result<model::Trace> UserTrace::read(const Roots&) {
  const bool is_over = ended_ns_ != 0;
  account_->learn_names(
      is_over ? FrameNames::Patience::None : FrameNames::Patience::Some,
      [this, is_over, last_ns = base::monotonic_ns()]() mutable {
        // So that the ring does not get full of what is given back.
        constexpr uint64_t kLongNs = 20'000'000;
        if (is_over || base::monotonic_ns() - last_ns < kLongNs) return;
        drain();
        last_ns = base::monotonic_ns();
      },
      notes_);
  const uint64_t now_ns = is_over ? ended_ns_ : base::monotonic_ns();
  const tm_user_density& density = skeleton_->bss->density;
  account_->see_density({density.pages, density.weights});
  model::Trace trace = account_->read(now_ns);
  trace.backend = model::TraceBackend::Bpf;
  trace.started_realtime_ns = started_realtime_ns_;
  trace.elapsed_ns = now_ns - started_ns_;
  trace.page_size_bytes = page_size_;
  if (account_->peak_ns() > started_ns_) {
    trace.peak_realtime_ns =
        started_realtime_ns_ + account_->peak_ns() - started_ns_;
  }
  trace.faults = faults_so_far(trace.faults);
  trace.kernel_bytes = kernel_bytes_ + spaces_->kernel_bytes();
  trace.notes = notes_;
  fill_user(*trace.user);
  return trace;
}

}  // namespace

LiveTraceResult prepare_user_trace(const Roots& roots,
                                   const TraceOptions& options) {
#ifndef __x86_64__
  return base::fail(base::ErrorKind::Unsupported,
                    "stacks of programs are known of x86-64 alone");
#endif
  const BpfLoading loading;
  auto trace = std::make_unique<UserTrace>(roots);
  base::Status status = trace->configure(options);
  if (!status) return status.error();
  return LiveTraceResult(std::move(trace));
}

}  // namespace tidemark::source
