#include "source/bpf/slab_tracer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
// The order matters: the shared headers need the kernel's integer names.
#include <bpf/slab.h>
#include <bpf/slab.skel.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "source/bpf/loading.h"
#include "source/bpf/mapped_table.h"
#include "source/trace_stacks.h"

namespace tidemark::source {
namespace {

struct Destroy {
  void operator()(slab_bpf* skeleton) const { slab_bpf__destroy(skeleton); }
};

// One object for so many pages of RAM finds room: slabs seldom are more than a
// fifth of it, and an object of the common caches has some 200 bytes.
uint32_t set_count() {
  constexpr uint64_t kPagesPerObject = 8;
  constexpr uint64_t kFewest = uint64_t{1} << 16;
  constexpr uint64_t kMost = uint64_t{1} << 21;
  const auto pages =
      static_cast<uint64_t>(std::max<long>(::sysconf(_SC_PHYS_PAGES), 1));
  const uint64_t objects =
      std::clamp(std::bit_ceil(pages / kPagesPerObject), kFewest, kMost);
  return static_cast<uint32_t>(objects / TM_SLAB_SLOTS);
}

// As /proc/slabinfo calls the one from which so much is given; which of those
// for accounted or reclaimable memory it is the events do not tell.
std::string kmalloc_name(uint64_t bytes) {
  constexpr uint64_t kLargest = 8192;
  constexpr uint64_t kKiB = 1024;
  if (bytes > kLargest) return "kmalloc-large";
  if (bytes >= kKiB && bytes % kKiB == 0) {
    return "kmalloc-" + std::to_string(bytes / kKiB) + "k";
  }
  return "kmalloc-" + std::to_string(bytes);
}

std::string cache_of(const tm_slab_site& site) {
  const std::string name = text_of(site.name);
  return name.empty() ? kmalloc_name(site.cache) : name;
}

uint64_t positive(int64_t value) {
  return value > 0 ? static_cast<uint64_t>(value) : 0;
}

}  // namespace

struct SlabTracer::State {
  std::unique_ptr<slab_bpf, Destroy> skeleton;
  MappedTable<tm_slab_site> sites;
  uint64_t kernel_bytes = 0;
  std::vector<std::string> notes;

  void set_filter(const TraceFilter& filter);
  base::Status load();
  base::Status attach() const;
  uint64_t missed_events() const;
};

void SlabTracer::State::set_filter(const TraceFilter& filter) {
  auto* settings = skeleton->rodata;
  settings->wanted_tgid = static_cast<uint32_t>(filter.tree_pid.value_or(0));
  if (filter.cgroup_id || !filter.module.empty()) {
    notes.emplace_back(
        "slab objects are followed for all groups and modules, whatever else "
        "was asked for");
  }
  if (filter.comm.empty()) return;
  settings->filters_comm = 1;
  // The kernel keeps 15 characters of it.
  const size_t length =
      std::min(filter.comm.size(), sizeof settings->wanted_comm - 1);
  std::memcpy(const_cast<char*>(settings->wanted_comm), filter.comm.data(),
              length);
}

base::Status SlabTracer::State::load() {
  const uint32_t sets = set_count();
  skeleton->rodata->set_mask = sets - 1;
  bpf_map__set_max_entries(skeleton->maps.objects, sets);
  kernel_bytes = uint64_t{sets} * sizeof(tm_slab_set) +
                 uint64_t{TM_SLAB_SITES} * sizeof(tm_slab_site);
  const int result = slab_bpf__load(skeleton.get());
  if (result != 0) return bpf_error("cannot load the BPF programs", -result);
  return sites.map(skeleton->maps.sites);
}

base::Status SlabTracer::State::attach() const {
  const base::Fd older(bpf_raw_tracepoint_open(
      "kmem_cache_alloc_node",
      bpf_program__fd(skeleton->progs.on_older_kernel)));
  if (older) {
    return base::fail(base::ErrorKind::Unsupported,
                      "the events of slab caches have another form before 6.1");
  }
  bpf_program__set_autoattach(skeleton->progs.on_older_kernel, false);
  const int result = slab_bpf__attach(skeleton.get());
  if (result != 0) return bpf_error("cannot attach the BPF programs", -result);
  return base::Ok{};
}

uint64_t SlabTracer::State::missed_events() const {
  return recursion_misses({bpf_program__fd(skeleton->progs.on_cache_alloc),
                           bpf_program__fd(skeleton->progs.on_kmalloc),
                           bpf_program__fd(skeleton->progs.on_cache_free),
                           bpf_program__fd(skeleton->progs.on_kfree)});
}

base::Result<SlabTracer> SlabTracer::prepare(const TraceFilter& filter) {
  const BpfLoading loading;
  auto state = std::make_unique<State>();
  state->skeleton.reset(slab_bpf__open());
  if (!state->skeleton) return bpf_error("cannot open the BPF programs", errno);
  state->set_filter(filter);
  base::Status status = state->load();
  if (status) status = state->attach();
  if (!status) return status.error();
  return SlabTracer(std::move(state));
}

SlabTracer::SlabTracer(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
SlabTracer::SlabTracer(SlabTracer&&) noexcept = default;
SlabTracer& SlabTracer::operator=(SlabTracer&&) noexcept = default;
SlabTracer::~SlabTracer() = default;

void SlabTracer::go() {
  state_->skeleton->bss->is_on = 1;
}

void SlabTracer::freeze() {
  if (state_->skeleton->bss->is_on == 0) return;
  state_->skeleton->bss->is_on = 0;
  // Waits for those that are running now.
  slab_bpf__detach(state_->skeleton.get());
}

model::SlabTrace SlabTracer::read(const Roots& roots) const {
  model::SlabTrace trace;
  trace.notes = state_->notes;
  const MappedTable<tm_slab_site>& sites = state_->sites;
  std::vector<uint64_t> addresses;
  for (uint32_t i = 0; i < sites.count(); ++i) {
    if (sites[i].key != 0) addresses.push_back(sites[i].call_site);
  }
  FrameNames names;
  names.learn(roots, addresses, FrameNames::Patience::None, trace.notes);
  for (uint32_t i = 0; i < sites.count(); ++i) {
    const tm_slab_site& entry = sites[i];
    if (entry.key == 0) continue;
    trace.sites.push_back({cache_of(entry), names.at(entry.call_site),
                           positive(entry.bytes), positive(entry.peak_bytes),
                           positive(entry.objects), entry.allocation_count,
                           entry.untold_count});
  }
  const auto& bss = *state_->skeleton->bss;
  trace.bytes = positive(bss.total.bytes);
  trace.peak_bytes = positive(bss.total.peak_bytes);
  trace.kernel_bytes = state_->kernel_bytes;
  trace.missed_events = state_->missed_events();
  trace.untracked_freed = bss.faults.untracked_freed;
  trace.overwritten = bss.faults.overwritten;
  trace.table_full = bss.faults.sites_full + bss.faults.objects_full;
  return trace;
}

}  // namespace tidemark::source
