#include "source/bpf/tree_follower.h"

#include <bpf/bpf.h>
#include <bpf/events.h>
#include <bpf/libbpf.h>
#include <bpf/tree.skel.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/page_size.h"
#include "source/bpf/loading.h"

namespace tidemark::source {
namespace {

struct Destroy {
  void operator()(tree_bpf* skeleton) const { tree_bpf__destroy(skeleton); }
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};

model::ProcessLife life_of(const tm_process& process) {
  model::ProcessLife life;
  life.pid = static_cast<int32_t>(process.pid);
  life.parent_pid = static_cast<int32_t>(process.parent_pid);
  life.comm = text_of(process.comm);
  life.path = text_of(process.path);
  life.started_ns = process.started_ns;
  if (process.ended_ns != 0) {
    life.ended_ns = process.ended_ns;
    life.wait_status = process.exit_code;
  }
  life.has_execed = (process.flags & TM_PROCESS_HAS_EXECED) != 0;
  life.shares_space = (process.flags & TM_PROCESS_SHARES_SPACE) != 0;
  if (!life.shares_space) {
    life.peak_rss_bytes = process.peak_pages * base::page_bytes();
  }
  if (process.earlier_peak_pages != 0) {
    life.earlier_peak_rss_bytes =
        process.earlier_peak_pages * base::page_bytes();
  }
  life.peak_source = model::PeakSource::Counted;
  life.left_group = (process.flags & TM_PROCESS_HAS_LEFT) != 0;
  return life;
}

// As the kernel keeps device numbers, which is not how stat() gives them.
uint64_t kernel_device(dev_t device) {
  constexpr unsigned kMinorBits = 20;
  return (uint64_t{major(device)} << kMinorBits) | minor(device);
}

}  // namespace

struct TreeFollower::State {
  std::unique_ptr<tree_bpf, Destroy> skeleton;
  std::unique_ptr<ring_buffer, Destroy> ring;
  base::Fd statistics;  // while it is open the kernel times BPF programs
  const std::function<void(const NewHigh&)>* new_high = nullptr;
  const std::function<void(model::ProcessLife)>* ended = nullptr;

  base::Status open(const FollowOptions& options);
  base::Status load(const FollowOptions& options);
  void find_cpu_offsets() const;
  static int take_record(void* context, void* data, size_t size);
};

base::Status TreeFollower::State::open(const FollowOptions& options) {
  skeleton.reset(tree_bpf__open());
  if (!skeleton) return bpf_error("cannot open the BPF programs", errno);
  struct stat info {};
  if (::stat("/proc/self/ns/pid", &info) != 0) {
    return base::fail_errno("/proc/self/ns/pid", errno);
  }
  const int cpus = libbpf_num_possible_cpus();
  if (cpus < 1) return bpf_error("cannot count the CPUs", -cpus);
  auto* settings = skeleton->rodata;
  settings->namespace_device = kernel_device(info.st_dev);
  settings->namespace_inode = info.st_ino;
  settings->tool_pid = static_cast<uint32_t>(::getpid());
  settings->cpu_count =
      static_cast<uint32_t>(std::min<int>(cpus, TM_CPU_LIMIT));
  settings->follows_descendants = options.with_descendants ? 1 : 0;
  settings->height_is_charge = options.height_is_charge ? 1 : 0;
  settings->stops_at_crossing = options.stops_at_crossing ? 1 : 0;
  bpf_program__set_autoload(skeleton->progs.on_page_alloc,
                            options.sees_page_cache);
  // Before 6.1 an address that is used again may bring a foreign peak along.
  bpf_program__set_autoload(
      skeleton->progs.on_space_end,
      libbpf_find_vmlinux_btf_id("exit_mmap", BPF_TRACE_RAW_TP) > 0);
  bpf_program__set_autoload(
      skeleton->progs.on_group_change,
      options.height_is_charge &&
          libbpf_find_vmlinux_btf_id("cgroup_attach_task", BPF_TRACE_RAW_TP) >
              0);
  bpf_program__set_autoattach(skeleton->progs.adopt_running, false);
  return base::Ok{};
}

// The offsets of the CPUs' copies. Without them sums lag behind by a batch per
// CPU, which peak_error_bytes() tells.
void TreeFollower::State::find_cpu_offsets() const {
  bpf_test_run_opts run{};
  run.sz = sizeof run;
  const int fd = bpf_program__fd(skeleton->progs.look_around);
  if (bpf_prog_test_run_opts(fd, &run) != 0 || run.retval != 0) return;
  auto* shared = skeleton->bss;
  const uint32_t at = shared->base_offset;
  uint64_t base = 0;
  if (at + sizeof base > sizeof shared->map_image) return;
  std::memcpy(&base, shared->map_image + at, sizeof base);
  if (base == 0) return;
  for (uint32_t cpu = 0; cpu < skeleton->rodata->cpu_count; ++cpu) {
    if (shared->percpu_address[cpu] == 0) return;
    shared->cpu_offset[cpu] = shared->percpu_address[cpu] - base;
  }
  shared->has_cpu_offsets = 1;
}

base::Status TreeFollower::State::load(const FollowOptions& options) {
  int result = tree_bpf__load(skeleton.get());
  if (result != 0) return bpf_error("cannot load the BPF programs", -result);
  find_cpu_offsets();
  ring.reset(ring_buffer__new(bpf_map__fd(skeleton->maps.records), take_record,
                              this, nullptr));
  if (!ring) return bpf_error("cannot map the BPF ring", errno);
  // Never passed before somebody sets a mark.
  skeleton->bss->next_mark_pages = UINT64_MAX;
  result = tree_bpf__attach(skeleton.get());
  if (result != 0) return bpf_error("cannot attach the BPF programs", -result);
  if (options.times_itself) {
    statistics = base::Fd(bpf_enable_stats(BPF_STATS_RUN_TIME));
  }
  return base::Ok{};
}

int TreeFollower::State::take_record(void* context, void* data, size_t size) {
  auto& state = *static_cast<State*>(context);
  uint32_t kind = 0;
  if (size < sizeof kind) return 0;
  std::memcpy(&kind, data, sizeof kind);
  if (kind == TM_RECORD_NEW_HIGH && size >= sizeof(tm_new_high)) {
    tm_new_high record{};
    std::memcpy(&record, data, sizeof record);
    (*state.new_high)({record.time_ns, record.height_pages * base::page_bytes(),
                       static_cast<int32_t>(record.stopped_pid)});
  } else if (kind == TM_RECORD_EXIT && size >= sizeof(tm_process)) {
    tm_process record{};
    std::memcpy(&record, data, sizeof record);
    (*state.ended)(life_of(record));
  }
  return 0;
}

base::Result<TreeFollower> TreeFollower::start(const FollowOptions& options) {
  const BpfLoading loading;
  auto state = std::make_unique<State>();
  base::Status status = state->open(options);
  if (status) status = state->load(options);
  if (!status) return status.error();
  return TreeFollower(std::move(state));
}

TreeFollower::TreeFollower(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
TreeFollower::TreeFollower(TreeFollower&&) noexcept = default;
TreeFollower& TreeFollower::operator=(TreeFollower&&) noexcept = default;
TreeFollower::~TreeFollower() = default;

void TreeFollower::adopt_next_child() {
  state_->skeleton->bss->adopts_next_child = 1;
}

base::Status TreeFollower::adopt(const std::vector<int32_t>& pids) {
  const int wanted = bpf_map__fd(state_->skeleton->maps.wanted);
  for (int32_t pid : pids) {
    const uint8_t yes = 1;
    if (bpf_map_update_elem(wanted, &pid, &yes, BPF_ANY) != 0) {
      return bpf_error("cannot name a process to BPF", errno);
    }
  }
  std::unique_ptr<bpf_link, Destroy> link(
      bpf_program__attach_iter(state_->skeleton->progs.adopt_running, nullptr));
  if (!link) return bpf_error("cannot walk the tasks", errno);
  base::Fd walk(bpf_iter_create(bpf_link__fd(link.get())));
  if (!walk) return bpf_error("cannot walk the tasks", errno);
  std::array<char, 64> nothing{};
  while (::read(walk.get(), nothing.data(), nothing.size()) > 0) {
  }
  return base::Ok{};
}

int TreeFollower::wake_fd() const {
  return ring_buffer__epoll_fd(state_->ring.get());
}

void TreeFollower::drain(const std::function<void(const NewHigh&)>& new_high,
                         const std::function<void(model::ProcessLife)>& ended) {
  state_->new_high = &new_high;
  state_->ended = &ended;
  ring_buffer__consume(state_->ring.get());
}

void TreeFollower::set_mark(uint64_t bytes) {
  __atomic_store_n(&state_->skeleton->bss->next_mark_pages,
                   bytes / base::page_bytes(), __ATOMIC_RELAXED);
}

void TreeFollower::set_step_permille(uint64_t permille) {
  __atomic_store_n(&state_->skeleton->data->step_permille, permille,
                   __ATOMIC_RELAXED);
}

Heights TreeFollower::heights() const {
  const auto* shared = state_->skeleton->bss;
  const auto read = [](const auto& value) {
    return static_cast<uint64_t>(__atomic_load_n(&value, __ATOMIC_RELAXED));
  };
  return {read(shared->highest_pages) * base::page_bytes(),
          read(shared->highest_ns),
          read(shared->resident_pages) * base::page_bytes(),
          read(shared->highest_resident_pages) * base::page_bytes(),
          read(shared->highest_resident_ns),
          read(shared->process_count),
          read(shared->lost_processes) + read(shared->lost_records),
          read(shared->left_count),
          static_cast<uint64_t>(std::max<int64_t>(
              0, static_cast<int64_t>(read(shared->outside_pages)))) *
              base::page_bytes()};
}

std::vector<LivingProcess> TreeFollower::living() const {
  const int processes = bpf_map__fd(state_->skeleton->maps.processes);
  const int spaces = bpf_map__fd(state_->skeleton->maps.spaces);
  std::vector<LivingProcess> list;
  uint32_t key = 0;
  const void* previous = nullptr;
  // A key that is deleted while we stand on it starts the walk anew; the bound
  // keeps that from going on for ever.
  for (size_t step = 0; step < size_t{1} << 17; ++step) {
    uint32_t next = 0;
    if (bpf_map_get_next_key(processes, previous, &next) != 0) break;
    key = next;
    previous = &key;
    tm_process process{};
    if (bpf_map_lookup_elem(processes, &key, &process) != 0) continue;
    LivingProcess living{life_of(process), 0};
    tm_space space{};
    if (process.space != 0 &&
        bpf_map_lookup_elem(spaces, &process.space, &space) == 0 &&
        !living.life.shares_space) {
      living.rss_bytes = space.total_pages * base::page_bytes();
      living.life.peak_rss_bytes = space.peak_pages * base::page_bytes();
    }
    list.push_back(std::move(living));
  }
  std::ranges::sort(list, {},
                    [](const LivingProcess& p) { return p.life.pid; });
  const auto is_same = [](const LivingProcess& a, const LivingProcess& b) {
    return a.life.pid == b.life.pid;
  };
  list.erase(std::unique(list.begin(), list.end(), is_same), list.end());
  return list;
}

uint64_t TreeFollower::peak_error_bytes() const {
  // percpu_counter_batch of the kernel, for each of the three counters.
  constexpr uint64_t kLeastBatch = 32;
  constexpr uint64_t kCounters = 3;
  const uint64_t cpus = state_->skeleton->rodata->cpu_count;
  return std::max(kLeastBatch, 2 * cpus) * cpus * kCounters *
         base::page_bytes();
}

std::optional<uint64_t> TreeFollower::program_ns() const {
  if (!state_->statistics) return std::nullopt;
  uint64_t sum = 0;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, state_->skeleton->obj) {
    bpf_prog_info info{};
    uint32_t size = sizeof info;
    const int fd = bpf_program__fd(program);
    if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0) {
      sum += info.run_time_ns;
    }
  }
  return sum;
}

}  // namespace tidemark::source
