
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
// The order matters: the shared headers need the kernel's integer names.
#include <bpf/known_page.h>
#include <bpf/trace.h>
#include <bpf/trace.skel.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "source/bpf/kernel_functions.h"
#include "source/bpf/loading.h"
#include "source/bpf/page_array.h"
#include "source/bpf/trace_modules.h"
#include "source/bpf/trace_reader.h"
#include "source/bpf/trace_tables.h"
#include "source/live_trace.h"
#include "source/low_history.h"
#include "source/machine_reader.h"
#include "source/page_account.h"
#include "source/trace_stacks.h"

namespace tidemark::source {
namespace {

struct Destroy {
  void operator()(trace_bpf* skeleton) const { trace_bpf__destroy(skeleton); }
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
using Hook = std::unique_ptr<bpf_link, Destroy>;

// Where a page went is read from page table entries.
#ifdef __x86_64__
constexpr bool kReadsNotes = true;
#else
constexpr bool kReadsNotes = false;
#endif

uint64_t meaning_bits(CodeMeaning meaning) {
  switch (meaning) {
    case CodeMeaning::Interrupt:
      return TM_CODE_INTERRUPT;
    case CodeMeaning::Wanted:
      return TM_CODE_WANTED;
    case CodeMeaning::Loading:
      return TM_CODE_LOADING;
    case CodeMeaning::Init:
      return TM_CODE_INIT;
    case CodeMeaning::Tracing:
      break;
  }
  return 0;
}

class BpfTrace : public LiveTrace {
 public:
  // Whether programs are hung on functions of the kernel, besides its events.
  enum class Hooks : uint8_t { None, WherePossible };
  explicit BpfTrace(Hooks hooks) : hooks_(hooks) {}
  base::Status configure(const Roots& roots, const TraceOptions& options);
  bool has_hooks() const { return has_hooks_; }

  void go() override;
  void drain() override { modules_.drain(); }
  int wake_fd() const override { return modules_.fd(); }
  void freeze() override;
  void look() override;
  Height height() const override;
  base::Result<model::Trace> read(const Roots& roots) override;
  void adopt(const PageAccount& account) override;
  void restate(PageAccount& account) const override;

 private:
  void set_filter(const TraceFilter& filter);
  base::Status set_meanings(const Roots& roots, const TraceFilter& filter);
  void choose_programs();
  base::Status load(const Sections& sections);
  base::Status attach();
  void attach_silent();
  void attach_moves();

  struct Adopted {
    uint64_t pages = 0;
    uint64_t gone_pages = 0;  // given back since we count
    uint64_t left_pages = 0;  // for which there was no room
  };
  Adopted adopt_frames(const PageAccount& account);
  uint32_t adopted_number(uint32_t number);
  uint32_t* entry_of(uint64_t frame);

  model::TraceFaults faults() const;
  TraceRun run() const;

  Hooks hooks_;
  bool has_hooks_ = false;
  std::unique_ptr<trace_bpf, Destroy> skeleton_;
  std::vector<Hook> hooks_on_;
  std::vector<Hook> moves_on_;
  TraceTables tables_;
  Sections sections_;
  uint32_t first_adopted_ = 0;  // index of the first node that can be
  uint32_t adopted_count_ = 0;
  // Of each node of the account the number it has here; 0: none.
  std::vector<uint32_t> adopted_numbers_;
  BpfTraceModules modules_;
  bool sees_bulk_ = false;
  uint64_t sample_period_ = 1;
  uint64_t page_size_ = 4096;
  uint64_t kernel_bytes_ = 0;
  uint64_t started_realtime_ns_ = 0;
  uint64_t started_ns_ = 0;
  uint64_t ended_ns_ = 0;
  std::vector<std::string> notes_;
  TraceReader reader_;
  static constexpr uint64_t kFirstStretchNs = 500'000'000;
  std::vector<uint64_t> seen_keys_;  // of the nodes, when last looked at
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
    auto& range = settings->ranges[count++];
    range.first = code.first;
    range.last = code.last;
    range.meaning = meaning_bits(code.meaning);
    if (code.meaning == CodeMeaning::Wanted) {
      settings->needed_meaning = TM_CODE_WANTED;
    }
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
  const base::Result<model::MemInfo> memory = read_meminfo(roots);
  const TableSizes sizes =
      sizes_for(sections->ram_pages,
                memory ? memory->available_bytes : std::optional<uint64_t>());
  const uint32_t adopted_nodes = options.takes_over ? TM_ADOPTED_NODES : 0;
  first_adopted_ = sizes.nodes;
  auto* settings = skeleton_->rodata;
  settings->section_count = static_cast<uint32_t>(sections->first_chunk.size());
  settings->stack_mask = sizes.stacks - 1;
  settings->task_mask = sizes.tasks - 1;
  settings->node_mask = sizes.nodes - 1;
  settings->sample_mask = static_cast<uint32_t>(sample_period_ - 1);
  settings->uses_signatures = options.unwinds_all ? 0 : 1;
  settings->takes_over = options.takes_over ? 1 : 0;
  set_filter(options.filter);
  base::Status status = set_meanings(roots, options.filter);
  if (!status) return status;
  bpf_map__set_max_entries(skeleton_->maps.sections, settings->section_count);
  bpf_map__set_max_entries(skeleton_->maps.chunks, sections->chunk_count);
  bpf_map__set_max_entries(skeleton_->maps.stacks, sizes.stacks);
  bpf_map__set_max_entries(skeleton_->maps.tasks, sizes.tasks);
  bpf_map__set_max_entries(skeleton_->maps.nodes, sizes.nodes + adopted_nodes);
  kernel_bytes_ =
      uint64_t{sections->chunk_count} * sizeof(tm_frame_chunk) +
      uint64_t{sizes.stacks} * sizeof(tm_trace_stack) +
      uint64_t{sizes.tasks} * sizeof(tm_trace_task) +
      uint64_t{sizes.nodes + adopted_nodes} * sizeof(tm_trace_node) +
      BpfTraceModules::kKernelBytes;
  return load(*sections);
}

// Not every kernel lets programs run when its functions return.
void BpfTrace::choose_programs() {
  const KernelFunctions functions;
  const auto hook = [&](bpf_program* program, const char* name) {
    if (!name) return;
    bpf_program__set_attach_target(program, 0, name);
    bpf_program__set_autoload(program, true);
    has_hooks_ = true;
  };
  hook(skeleton_->progs.on_bulk,
       functions.find({"alloc_pages_bulk_noprof", "__alloc_pages_bulk"}));
  hook(skeleton_->progs.on_range,
       functions.find({"alloc_contig_range_noprof", "alloc_contig_range"}));
}

base::Status BpfTrace::load(const Sections& sections) {
  if (hooks_ == Hooks::WherePossible) choose_programs();
  int result = trace_bpf__load(skeleton_.get());
  if (result != 0) return bpf_error("cannot load the BPF programs", -result);
  base::Status status = find_page_array(*skeleton_);
  if (!status) return status;
  const int fd = bpf_map__fd(skeleton_->maps.sections);
  for (uint32_t i = 0; i < sections.first_chunk.size(); ++i) {
    if (sections.first_chunk[i] == 0) continue;
    if (bpf_map_update_elem(fd, &i, &sections.first_chunk[i], BPF_ANY) != 0) {
      return bpf_error("cannot fill a BPF table", errno);
    }
  }
  status = tables_.stacks.map(skeleton_->maps.stacks);
  if (status) status = tables_.tasks.map(skeleton_->maps.tasks);
  if (status) status = tables_.nodes.map(skeleton_->maps.nodes);
  if (status) status = tables_.chunks.map(skeleton_->maps.chunks);
  if (!status) return status;
  sections_ = sections;
  return attach();
}

// What a kernel does not have costs what it tells, and no more.
base::Status BpfTrace::attach() {
  for (bpf_program* program :
       {skeleton_->progs.on_unmap, skeleton_->progs.on_remap,
        skeleton_->progs.on_unmap_huge, skeleton_->progs.on_remap_huge,
        skeleton_->progs.on_bulk, skeleton_->progs.on_range,
        skeleton_->progs.on_module_load, skeleton_->progs.on_module_free}) {
    bpf_program__set_autoattach(program, false);
  }
  const int result = trace_bpf__attach(skeleton_.get());
  if (result != 0) return bpf_error("cannot attach the BPF programs", -result);
  base::Status status = modules_.attach(
      {skeleton_->maps.modules, skeleton_->maps.module_symbols,
       skeleton_->progs.on_module_load, skeleton_->progs.on_module_free,
       &skeleton_->bss->module_count, &skeleton_->bss->lost_symbols,
       &skeleton_->bss->module_events},
      notes_);
  if (!status) return status;
  attach_silent();
  attach_moves();
  return base::Ok{};
}

void BpfTrace::attach_moves() {
  if constexpr (!kReadsNotes) {
    notes_.emplace_back(
        "pages that are moved lose their owners: this processor's page tables "
        "are not known");
    return;
  }
  const auto attach = [&](bpf_program* program) {
    Hook hook(bpf_program__attach(program));
    const bool is_on = hook != nullptr;
    moves_on_.push_back(std::move(hook));
    return is_on;
  };
  if (!attach(skeleton_->progs.on_unmap) ||
      !attach(skeleton_->progs.on_remap)) {
    notes_.emplace_back(
        "pages that are moved lose their owners: this kernel does not tell "
        "where they go");
  }
  // Kernels without huge pages have no event for them.
  if (attach(skeleton_->progs.on_unmap_huge)) {
    attach(skeleton_->progs.on_remap_huge);
  }
}

// What is not seen then has a number: what is given back and was never taken.
void BpfTrace::attach_silent() {
  for (bpf_program* program :
       {skeleton_->progs.on_bulk, skeleton_->progs.on_range}) {
    if (!bpf_program__autoload(program)) continue;
    Hook hook(bpf_program__attach(program));
    if (!hook) continue;
    if (program == skeleton_->progs.on_bulk) sees_bulk_ = true;
    hooks_on_.push_back(std::move(hook));
  }
}

model::TraceFaults BpfTrace::faults() const {
  const auto& seen = skeleton_->bss->faults;
  model::TraceFaults faults;
  faults.missed_events =
      recursion_misses({bpf_program__fd(skeleton_->progs.on_alloc),
                        bpf_program__fd(skeleton_->progs.on_free)});
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
  trace_bpf__detach(skeleton_.get());
  moves_on_.clear();
  // What hangs on functions stays until all is read: it stands on stacks under
  // a name that goes with it. This waits for all programs that run now.
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
  modules_.detach();
}

void BpfTrace::look() {
  std::vector<LowHistory::Holding> holdings;
  seen_keys_.resize(tables_.nodes.count());
  for (uint32_t i = 0; i < tables_.nodes.count(); ++i) {
    if (tables_.nodes[i].key == 0) continue;
    // Whoever has the entry now has no part in its past.
    const uint64_t key = tables_.nodes[i].key;
    if (seen_keys_[i] != 0 && seen_keys_[i] != key) lows_.forget(i);
    seen_keys_[i] = key;
    const int64_t pages = tables_.nodes[i].pages;
    holdings.push_back({i, pages > 0 ? static_cast<uint64_t>(pages) : 0});
  }
  lows_.look(base::monotonic_ns() - started_ns_, holdings);
}

LiveTrace::Height BpfTrace::height() const {
  const auto& machine = skeleton_->data->machine;
  const TraceRun scale = run();
  return {scale.scaled(machine.pages) * page_size_,
          scale.scaled(machine.peak_pages) * page_size_};
}

TraceRun BpfTrace::run() const {
  TraceRun run;
  run.sample_period = sample_period_;
  run.epoch = skeleton_->data->machine.epoch;
  run.now_ns = ended_ns_ != 0 ? ended_ns_ : base::monotonic_ns();
  run.has_ended = ended_ns_ != 0;
  run.folded_tasks = skeleton_->bss->folded_tasks;
  run.lows = &lows_;
  run.modules = &modules_;
  return run;
}

// --- going on with what another means has booked -----------------------------
//
// Its nodes stand behind those that programs look for, and are booked to like
// them; only their sums by task are not kept. A frame that is nobody's here
// gets the owner it has there, if it was not given back since we count: such a
// frame is marked. So each page counts once, whatever both have seen.

uint32_t* BpfTrace::entry_of(uint64_t frame) {
  const uint64_t section = frame >> TM_SECTION_SHIFT;
  if (section >= sections_.first_chunk.size() ||
      sections_.first_chunk[section] == 0) {
    return nullptr;
  }
  const auto chunk = static_cast<uint32_t>(sections_.first_chunk[section] - 1 +
                                           frame / TM_FRAMES_PER_CHUNK %
                                               TM_CHUNKS_PER_SECTION);
  return &tables_.chunks.at(chunk).nodes[frame % TM_FRAMES_PER_CHUNK];
}

// Only nodes that hold something need one here: those of processes that came
// and went are many times as many. 0 when there is no room.
uint32_t BpfTrace::adopted_number(uint32_t number) {
  uint32_t& ours = adopted_numbers_[number - 1];
  if (ours == 0 && adopted_count_ < TM_ADOPTED_NODES) {
    ours = first_adopted_ + ++adopted_count_;
  }
  return ours;
}

BpfTrace::Adopted BpfTrace::adopt_frames(const PageAccount& account) {
  Adopted adopted;
  account.each_held([&](uint64_t frame, uint32_t number) {
    uint32_t* entry = entry_of(frame);
    const uint32_t ours = entry != nullptr ? adopted_number(number) : 0;
    if (ours == 0) {
      ++adopted.left_pages;
      return;
    }
    uint32_t before = 0;
    tm_trace_node& node = tables_.nodes.at(ours - 1);
    // First the count: the page may be given back the moment it is ours.
    __atomic_fetch_add(&node.pages, 1, __ATOMIC_SEQ_CST);
    if (__atomic_compare_exchange_n(entry, &before, ours, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      ++adopted.pages;
      return;
    }
    __atomic_fetch_sub(&node.pages, 1, __ATOMIC_SEQ_CST);
    if (before == TM_FRAME_GONE) ++adopted.gone_pages;
  });
  return adopted;
}

void BpfTrace::adopt(const PageAccount& account) {
  adopted_numbers_.assign(account.nodes().size(), 0);
  const Adopted adopted = adopt_frames(account);
  auto& machine = skeleton_->data->machine;
  // The highest before, or since we count; a peak of that other means has no
  // time here.
  const auto held = static_cast<int64_t>(adopted.pages);
  const int64_t ours = machine.peak_pages + held;
  const int64_t theirs = account.machine().peak_pages;
  machine.peak_pages = std::max(ours, theirs);
  if (theirs >= ours) machine.peak_ns = 0;
  machine.has_changed_since_peak = 1;
  __atomic_fetch_add(&machine.pages, held, __ATOMIC_SEQ_CST);
  // Those were seen to be taken, by the other.
  __atomic_fetch_sub(&skeleton_->bss->faults.untracked_freed,
                     adopted.gone_pages, __ATOMIC_SEQ_CST);
  if (adopted.left_pages > 0) {
    __atomic_fetch_add(&skeleton_->bss->faults.nodes_full, adopted.left_pages,
                       __ATOMIC_SEQ_CST);
    notes_.push_back(std::to_string(adopted.left_pages) +
                     " pages of the first moments found no room in the tables "
                     "and are not followed");
  }
}

void BpfTrace::restate(PageAccount& account) const {
  const auto& machine = skeleton_->data->machine;
  const tm_trace_node nothing = {};
  for (uint32_t i = 0; i < account.nodes().size(); ++i) {
    const uint32_t ours = adopted_numbers_[i];
    const tm_trace_node& node = ours != 0 ? tables_.nodes[ours - 1] : nothing;
    std::optional<int64_t> at_peak;
    if (machine.peak_ns != 0) {
      at_peak = node.epoch == machine.epoch ? node.saved_pages : node.pages;
    }
    account.restate(i + 1, std::max<int64_t>(node.pages, 0), at_peak);
  }
}

base::Result<model::Trace> BpfTrace::read(const Roots& roots) {
  const TraceRun now = run();
  model::Trace trace = reader_.read(tables_, now, roots, notes_);
  trace.backend = model::TraceBackend::Bpf;
  trace.started_realtime_ns = started_realtime_ns_;
  trace.elapsed_ns = now.now_ns - started_ns_;
  trace.page_size_bytes = page_size_;
  trace.sample_period = sample_period_;
  const auto& machine = skeleton_->data->machine;
  trace.pages = now.scaled(machine.pages);
  trace.peak_pages = now.scaled(machine.peak_pages);
  if (machine.peak_ns > started_ns_) {
    trace.peak_realtime_ns =
        started_realtime_ns_ + machine.peak_ns - started_ns_;
  }
  trace.low_stretch_ns = lows_.stretch_ns();
  trace.sees_bulk = sees_bulk_;
  trace.faults = faults();
  trace.notes = notes_;
  modules_.add_losses(trace.notes);
  trace.kernel_bytes = kernel_bytes_;
  return trace;
}

}  // namespace

LiveTraceResult prepare_bpf_trace(const Roots& roots,
                                  const TraceOptions& options) {
  const BpfLoading loading;
  auto trace = std::make_unique<BpfTrace>(BpfTrace::Hooks::WherePossible);
  base::Status status = trace->configure(roots, options);
  if (!status && trace->has_hooks()) {
    // What hangs on functions is a gain and no need: some kernel's verifier may
    // refuse that alone.
    trace = std::make_unique<BpfTrace>(BpfTrace::Hooks::None);
    status = trace->configure(roots, options);
  }
  if (!status) return status.error();
  return LiveTraceResult(std::move(trace));
}

}  // namespace tidemark::source
