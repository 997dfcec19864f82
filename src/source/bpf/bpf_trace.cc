
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
// The order matters: the shared headers need the kernel's integer names.
#include <bpf/known_page.h>
#include <bpf/trace.h>
#include <bpf/trace.skel.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "model/trace_builder.h"
#include "parse/process_files.h"
#include "source/bpf/known_page.h"
#include "source/bpf/loading.h"
#include "source/cgroups.h"
#include "source/kernel_files.h"
#include "source/live_trace.h"
#include "source/low_history.h"
#include "source/trace_stacks.h"

namespace tidemark::source {
namespace {

struct Destroy {
  void operator()(trace_bpf* skeleton) const { trace_bpf__destroy(skeleton); }
};

constexpr uint64_t kFramesPerSection = uint64_t{1} << TM_SECTION_SHIFT;

// Where a page went is read from page table entries.
#ifdef __x86_64__
constexpr bool kReadsNotes = true;
#else
constexpr bool kReadsNotes = false;
#endif

// How many entries each table has, by the size of the machine: a small one that
// boots must not be filled by its observer.
struct TableSizes {
  uint32_t stacks = 0;
  uint32_t tasks = 0;
  uint32_t nodes = 0;
};

TableSizes sizes_for(uint64_t ram_pages) {
  constexpr uint64_t kPagesPerNode = 64;
  const uint64_t nodes = std::clamp<uint64_t>(
      std::bit_ceil(ram_pages / kPagesPerNode), 8192, 1U << 20);
  TableSizes sizes;
  sizes.nodes = static_cast<uint32_t>(nodes);
  sizes.stacks =
      static_cast<uint32_t>(std::clamp<uint64_t>(nodes / 4, 4096, 65536));
  sizes.tasks =
      static_cast<uint32_t>(std::clamp<uint64_t>(nodes / 8, 2048, 65536));
  return sizes;
}

// The first chunk of each section that has RAM, counted from 1.
struct Sections {
  std::vector<uint32_t> first_chunk;
  uint32_t chunk_count = 0;
  uint64_t ram_pages = 0;
};

base::Result<Sections> find_sections(const Roots& roots, uint64_t page_size) {
  const model::Reading<model::IoMemory> iomem = read_iomem(roots);
  if (!iomem || iomem->addresses == model::AddressForm::Hidden) {
    return base::fail(
        base::ErrorKind::Denied,
        roots.proc.join("iomem") + ": " +
            (iomem ? "addresses read as 0" : iomem.unknown_because),
        "it needs CAP_SYS_ADMIN");
  }
  Sections sections;
  for (const model::IoResource& resource : iomem->resources) {
    if (!model::is_system_ram(resource)) continue;
    const uint64_t first = resource.first / page_size;
    const uint64_t last = resource.last / page_size;
    sections.ram_pages += last - first + 1;
    const uint64_t last_section = last / kFramesPerSection;
    if (sections.first_chunk.size() <= last_section) {
      sections.first_chunk.resize(last_section + 1);
    }
    for (uint64_t i = first / kFramesPerSection; i <= last_section; ++i) {
      if (sections.first_chunk[i] != 0) continue;
      sections.first_chunk[i] = sections.chunk_count + 1;
      sections.chunk_count += TM_CHUNKS_PER_SECTION;
    }
  }
  return sections;
}

// A table of the kernel's that is mapped here.
template <typename T>
class MappedTable {
 public:
  MappedTable() = default;
  MappedTable(const MappedTable&) = delete;
  MappedTable& operator=(const MappedTable&) = delete;
  ~MappedTable() {
    if (at_) ::munmap(at_, bytes_);
  }

  base::Status map(const bpf_map* map) {
    count_ = bpf_map__max_entries(map);
    stride_ = (sizeof(T) + 7) / 8 * 8;
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    bytes_ = (stride_ * count_ + page - 1) / page * page;
    void* at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED,
                      bpf_map__fd(map), 0);
    if (at == MAP_FAILED) return bpf_error("cannot map a BPF table", errno);
    at_ = static_cast<char*>(at);
    return base::Ok{};
  }
  uint32_t count() const { return count_; }
  const T& operator[](uint32_t index) const {
    return *reinterpret_cast<const T*>(at_ + stride_ * index);
  }

 private:
  char* at_ = nullptr;
  size_t bytes_ = 0;
  size_t stride_ = 0;
  uint32_t count_ = 0;
};

std::string text_of(const char* bytes, size_t limit) {
  return {bytes, ::strnlen(bytes, limit)};
}

// Our own programs and the tracepoint's, which stand above the allocator.
bool is_ours(const model::TraceFrame& frame) {
  return frame.module == "bpf" || frame.symbol.starts_with("bpf_trace_run") ||
         frame.symbol.starts_with("bpf_prog_") ||
         frame.symbol.starts_with("__bpf_trace_") ||
         frame.symbol.starts_with("__traceiter_") ||
         frame.symbol.starts_with("__probestub_");
}

class BpfTrace : public LiveTrace {
 public:
  base::Status configure(const Roots& roots, const TraceOptions& options);

  void go() override;
  void freeze() override;
  void look() override;
  Height height() const override;
  base::Result<model::Trace> read(const Roots& roots) override;

 private:
  void set_filter(const TraceFilter& filter);
  base::Status set_meanings(const Roots& roots, const TraceFilter& filter);
  base::Status load(const Sections& sections);
  base::Status attach();
  base::Status find_array() const;

  std::vector<uint32_t> build_stacks(const Roots& roots,
                                     model::TraceBuilder& builder);
  std::vector<uint32_t> build_tasks(const Roots& roots,
                                    model::TraceBuilder& builder) const;
  // A node with its place in the table.
  using PlacedNode = std::pair<uint32_t, tm_trace_node>;
  std::vector<PlacedNode> copy_nodes() const;
  void build_leaves(const std::vector<PlacedNode>& nodes,
                    const std::vector<uint32_t>& stack_of,
                    const std::vector<uint32_t>& task_of, uint64_t now_ns,
                    model::TraceBuilder& builder) const;
  model::TraceFaults faults() const;
  uint64_t recursion_misses() const;
  uint64_t scaled(int64_t pages) const {
    return pages > 0 ? static_cast<uint64_t>(pages) * sample_period_ : 0;
  }

  std::unique_ptr<trace_bpf, Destroy> skeleton_;
  MappedTable<tm_trace_stack> stacks_;
  MappedTable<tm_trace_task> tasks_;
  MappedTable<tm_trace_node> nodes_;
  uint64_t sample_period_ = 1;
  uint64_t page_size_ = 4096;
  uint64_t kernel_bytes_ = 0;
  uint64_t started_realtime_ns_ = 0;
  uint64_t started_ns_ = 0;
  uint64_t ended_ns_ = 0;
  std::vector<std::string> notes_;
  FrameNames names_;
  static constexpr uint64_t kFirstStretchNs = 500'000'000;
  LowHistory lows_ = LowHistory(kFirstStretchNs);
};

void BpfTrace::set_filter(const TraceFilter& filter) {
  auto* settings = skeleton_->rodata;
  settings->wanted_tgid = static_cast<uint32_t>(filter.tree_pid.value_or(0));
  settings->wanted_cgroup = filter.cgroup_id.value_or(0);
  settings->least_order = filter.least_order;
  settings->most_order = filter.most_order;
  settings->wanted_gfp = filter.wanted_gfp_bits;
  settings->unwanted_gfp = filter.unwanted_gfp_bits;
  if (filter.comm.empty()) return;
  settings->filters_comm = 1;
  // The kernel keeps 15 characters of it.
  const size_t length =
      std::min(filter.comm.size(), sizeof settings->wanted_comm - 1);
  std::memcpy(const_cast<char*>(settings->wanted_comm), filter.comm.data(),
              length);
}

base::Status BpfTrace::set_meanings(const Roots& roots,
                                    const TraceFilter& filter) {
  base::Result<std::vector<MeantCode>> meant =
      find_meant_code(roots, {}, filter.module, notes_);
  if (!meant) return meant.error();
  auto* settings = skeleton_->rodata;
  uint32_t count = 0;
  for (const MeantCode& code : *meant) {
    if (count == TM_CODE_RANGES) break;
    const bool is_wanted = code.meaning == CodeMeaning::Wanted;
    auto& range = settings->ranges[count++];
    range.first = code.first;
    range.last = code.last;
    range.meaning = is_wanted ? TM_CODE_WANTED : TM_CODE_INTERRUPT;
    if (is_wanted) settings->needed_meaning = TM_CODE_WANTED;
  }
  settings->range_count = count;
  return base::Ok{};
}

base::Status BpfTrace::configure(const Roots& roots,
                                 const TraceOptions& options) {
  skeleton_.reset(trace_bpf__open());
  if (!skeleton_) return bpf_error("cannot open the BPF programs", errno);
  page_size_ = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  sample_period_ = options.sample_period;
  base::Result<Sections> sections = find_sections(roots, page_size_);
  if (!sections) return sections.error();
  const TableSizes sizes = sizes_for(sections->ram_pages);
  auto* settings = skeleton_->rodata;
  settings->section_count = static_cast<uint32_t>(sections->first_chunk.size());
  settings->stack_mask = sizes.stacks - 1;
  settings->task_mask = sizes.tasks - 1;
  settings->node_mask = sizes.nodes - 1;
  settings->sample_mask = static_cast<uint32_t>(sample_period_ - 1);
  settings->uses_signatures = options.unwinds_all ? 0 : 1;
  set_filter(options.filter);
  base::Status status = set_meanings(roots, options.filter);
  if (!status) return status;
  bpf_map__set_max_entries(skeleton_->maps.sections, settings->section_count);
  bpf_map__set_max_entries(skeleton_->maps.chunks, sections->chunk_count);
  bpf_map__set_max_entries(skeleton_->maps.stacks, sizes.stacks);
  bpf_map__set_max_entries(skeleton_->maps.tasks, sizes.tasks);
  bpf_map__set_max_entries(skeleton_->maps.nodes, sizes.nodes);
  kernel_bytes_ = uint64_t{sections->chunk_count} * sizeof(tm_frame_chunk) +
                  uint64_t{sizes.stacks} * sizeof(tm_trace_stack) +
                  uint64_t{sizes.tasks} * sizeof(tm_trace_task) +
                  uint64_t{sizes.nodes} * sizeof(tm_trace_node);
  return load(*sections);
}

base::Status BpfTrace::load(const Sections& sections) {
  int result = trace_bpf__load(skeleton_.get());
  if (result != 0) return bpf_error("cannot load the BPF programs", -result);
  base::Status status = find_array();
  if (!status) return status;
  const int fd = bpf_map__fd(skeleton_->maps.sections);
  for (uint32_t i = 0; i < sections.first_chunk.size(); ++i) {
    if (sections.first_chunk[i] == 0) continue;
    if (bpf_map_update_elem(fd, &i, &sections.first_chunk[i], BPF_ANY) != 0) {
      return bpf_error("cannot fill a BPF table", errno);
    }
  }
  status = stacks_.map(skeleton_->maps.stacks);
  if (status) status = tasks_.map(skeleton_->maps.tasks);
  if (status) status = nodes_.map(skeleton_->maps.nodes);
  if (!status) return status;
  return attach();
}

// What a kernel does not have costs what it tells, and no more.
base::Status BpfTrace::attach() {
  for (bpf_program* program :
       {skeleton_->progs.on_unmap, skeleton_->progs.on_remap}) {
    bpf_program__set_autoattach(program, false);
  }
  const int result = trace_bpf__attach(skeleton_.get());
  if (result != 0) return bpf_error("cannot attach the BPF programs", -result);
  if constexpr (!kReadsNotes) {
    notes_.emplace_back(
        "pages that are moved lose their owners: this processor's page tables "
        "are not known");
    return base::Ok{};
  }
  skeleton_->links.on_unmap = bpf_program__attach(skeleton_->progs.on_unmap);
  skeleton_->links.on_remap = bpf_program__attach(skeleton_->progs.on_remap);
  if (!skeleton_->links.on_unmap || !skeleton_->links.on_remap) {
    notes_.emplace_back(
        "pages that are moved lose their owners: this kernel does not tell "
        "where they go");
  }
  return base::Ok{};
}

base::Status BpfTrace::find_array() const {
  base::Result<KnownPage> page = KnownPage::make();
  if (!page) return page.error();
  skeleton_->bss->known.fd = page->fd();
  bpf_test_run_opts options{};
  options.sz = sizeof options;
  const int fd = bpf_program__fd(skeleton_->progs.look_around);
  if (bpf_prog_test_run_opts(fd, &options) != 0) {
    return bpf_error("cannot run a BPF program", errno);
  }
  base::Result<uint64_t> array = page->array_address(skeleton_->bss->known);
  if (!array) return array.error();
  skeleton_->bss->page_array = *array;
  skeleton_->data->page_struct_bytes = skeleton_->bss->known.page_struct_bytes;
  return base::Ok{};
}

std::vector<uint32_t> BpfTrace::build_stacks(const Roots& roots,
                                             model::TraceBuilder& builder) {
  // Looked at once: there may be more of them the next moment.
  std::vector<std::pair<uint32_t, std::vector<uint64_t>>> seen;
  std::vector<uint64_t> addresses;
  for (uint32_t i = 0; i < stacks_.count(); ++i) {
    const tm_trace_stack& stack = stacks_[i];
    if (stack.hash == 0) continue;
    const uint32_t depth = std::min<uint32_t>(stack.depth, TM_STACK_DEPTH);
    seen.emplace_back(
        i, std::vector<uint64_t>(stack.frames, stack.frames + depth));
    addresses.insert(addresses.end(), seen.back().second.begin(),
                     seen.back().second.end());
  }
  names_.learn(
      roots, addresses,
      ended_ns_ != 0 ? FrameNames::Patience::None : FrameNames::Patience::Some,
      notes_);
  std::vector<uint32_t> stack_of(stacks_.count());
  for (const auto& [index, stack] : seen) {
    std::vector<uint32_t> frames;
    for (uint64_t address : stack) {
      const model::TraceFrame& frame = names_.at(address);
      if (frames.empty() && is_ours(frame)) continue;
      frames.push_back(builder.frame(frame));
    }
    stack_of[index] = builder.stack(frames);
  }
  return stack_of;
}

std::vector<uint32_t> BpfTrace::build_tasks(
    const Roots& roots, model::TraceBuilder& builder) const {
  const std::map<uint64_t, std::string> groups =
      CgroupHierarchy::find(roots).list();
  std::vector<uint32_t> task_of(tasks_.count());
  for (uint32_t i = 0; i < tasks_.count(); ++i) {
    const tm_trace_task& entry = tasks_[i];
    if (entry.key == 0) continue;
    // With a filter there are thousands of others, who never had a page.
    const bool is_other = (entry.flags & TM_TASK_UNWANTED) != 0 &&
                          entry.pages == 0 && entry.peak_pages == 0;
    if (is_other) continue;
    model::TraceTask task;
    task.pid = static_cast<int32_t>(entry.tgid);
    task.start_ns = entry.start_ns;
    task.name = text_of(entry.comm, sizeof entry.comm);
    task.is_kernel_thread = (entry.flags & TM_TASK_KERNEL) != 0;
    task.is_interrupt = (entry.flags & TM_TASK_INTERRUPT) != 0;
    task.has_exited = (entry.flags & TM_TASK_EXITED) != 0;
    if (task.is_interrupt) task.name = "interrupts";
    const auto group = groups.find(entry.cgroup);
    if (group != groups.end()) task.cgroup = group->second;
    if ((entry.flags & TM_TASK_HAS_COMMAND) != 0) {
      task.command_line =
          parse::parse_command_line({entry.command, sizeof entry.command});
    } else if (!task.has_exited && !task.is_kernel_thread &&
               !task.is_interrupt) {
      base::Result<std::string> line =
          base::read_file_at(roots.proc, std::to_string(task.pid) + "/cmdline");
      if (line) task.command_line = parse::parse_command_line(*line);
    }
    std::ranges::replace(task.command_line, '\0', ' ');
    task_of[i] = builder.task(task);
    model::TraceTask& built = builder.task_at(task_of[i]);
    built.pages += scaled(entry.pages);
    built.peak_pages += scaled(entry.peak_pages);
  }
  return task_of;
}

std::vector<BpfTrace::PlacedNode> BpfTrace::copy_nodes() const {
  std::vector<PlacedNode> nodes;
  for (uint32_t i = 0; i < nodes_.count(); ++i) {
    if (nodes_[i].key != 0) nodes.emplace_back(i, nodes_[i]);
  }
  return nodes;
}

void BpfTrace::build_leaves(const std::vector<PlacedNode>& nodes,
                            const std::vector<uint32_t>& stack_of,
                            const std::vector<uint32_t>& task_of,
                            uint64_t now_ns,
                            model::TraceBuilder& builder) const {
  const uint64_t epoch = skeleton_->data->machine.epoch;
  for (const auto& [i, node] : nodes) {
    const auto stack = static_cast<uint32_t>(node.key >> 32);
    const auto task = static_cast<uint32_t>(node.key);
    if (stack == 0 || stack > stack_of.size() || task == 0 ||
        task > task_of.size()) {
      continue;
    }
    model::TraceLeaf& leaf =
        builder.leaf(stack_of[stack - 1], task_of[task - 1]);
    leaf.pages += scaled(node.pages);
    leaf.peak_pages += scaled(node.peak_pages);
    leaf.machine_peak_pages +=
        scaled(node.epoch == epoch ? node.saved_pages : node.pages);
    leaf.allocation_count += node.allocation_count * sample_period_;
    const std::vector<uint64_t> node_lows = lows_.lows_of(i);
    leaf.lows.resize(std::max(leaf.lows.size(), node_lows.size()));
    for (size_t at = 0; at < node_lows.size(); ++at)
      leaf.lows[at] += node_lows[at] * sample_period_;
    if (node.pages > 0 && now_ns > node.held_since_ns) {
      leaf.held_ns =
          std::max<uint64_t>(leaf.held_ns, now_ns - node.held_since_ns);
    }
  }
}

uint64_t BpfTrace::recursion_misses() const {
  uint64_t misses = 0;
  for (const bpf_program* program :
       {skeleton_->progs.on_alloc, skeleton_->progs.on_free}) {
    bpf_prog_info info{};
    uint32_t size = sizeof info;
    if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0) {
      misses += info.recursion_misses;
    }
  }
  return misses;
}

model::TraceFaults BpfTrace::faults() const {
  const auto& seen = skeleton_->bss->faults;
  model::TraceFaults faults;
  faults.missed_events = recursion_misses();
  faults.untracked_freed = seen.untracked_freed * sample_period_;
  faults.overwritten = seen.overwritten * sample_period_;
  faults.out_of_range = seen.out_of_range;
  faults.table_full =
      seen.stacks_full + seen.tasks_full + seen.nodes_full + seen.no_stack;
  faults.unmatched_migrations = seen.unmatched_moves;
  faults.verified_stacks = seen.verified_signatures;
  faults.wrong_stacks = seen.wrong_signatures;
  return faults;
}

void BpfTrace::go() {
  started_realtime_ns_ = base::realtime_ns();
  started_ns_ = base::monotonic_ns();
  skeleton_->bss->is_on = 1;
}

void BpfTrace::freeze() {
  if (skeleton_->bss->is_on == 0) return;
  skeleton_->bss->is_on = 0;
  ended_ns_ = base::monotonic_ns();
  // Waits for those that are running now.
  trace_bpf__detach(skeleton_.get());
}

void BpfTrace::look() {
  std::vector<LowHistory::Holding> holdings;
  for (uint32_t i = 0; i < nodes_.count(); ++i) {
    if (nodes_[i].key == 0) continue;
    const int64_t pages = nodes_[i].pages;
    holdings.push_back({i, pages > 0 ? static_cast<uint64_t>(pages) : 0});
  }
  lows_.look(base::monotonic_ns() - started_ns_, holdings);
}

LiveTrace::Height BpfTrace::height() const {
  const auto& machine = skeleton_->data->machine;
  return {scaled(machine.pages) * page_size_,
          scaled(machine.peak_pages) * page_size_};
}

base::Result<model::Trace> BpfTrace::read(const Roots& roots) {
  model::TraceBuilder builder;
  // First what refers to the others: those are in their tables by then, also
  // while more are added.
  const std::vector<PlacedNode> nodes = copy_nodes();
  const uint64_t now_ns = ended_ns_ != 0 ? ended_ns_ : base::monotonic_ns();
  const std::vector<uint32_t> stack_of = build_stacks(roots, builder);
  const std::vector<uint32_t> task_of = build_tasks(roots, builder);
  build_leaves(nodes, stack_of, task_of, now_ns, builder);
  model::Trace trace = builder.finish();
  trace.backend = model::TraceBackend::Bpf;
  trace.started_realtime_ns = started_realtime_ns_;
  trace.elapsed_ns = now_ns - started_ns_;
  trace.page_size_bytes = page_size_;
  trace.sample_period = sample_period_;
  const auto& machine = skeleton_->data->machine;
  trace.pages = scaled(machine.pages);
  trace.peak_pages = scaled(machine.peak_pages);
  if (machine.peak_ns > started_ns_) {
    trace.peak_realtime_ns =
        started_realtime_ns_ + machine.peak_ns - started_ns_;
  }
  trace.low_stretch_ns = lows_.stretch_ns();
  trace.faults = faults();
  trace.notes = notes_;
  trace.kernel_bytes = kernel_bytes_;
  return trace;
}

}  // namespace

LiveTraceResult prepare_bpf_trace(const Roots& roots,
                                  const TraceOptions& options) {
  const BpfLoading loading;
  auto trace = std::make_unique<BpfTrace>();
  base::Status status = trace->configure(roots, options);
  if (!status) return status.error();
  return LiveTraceResult(std::move(trace));
}

}  // namespace tidemark::source
