// Page allocations through a trace buffer of our own: where neither BPF nor
// perf may be used.
//
// Pages of the buffer are read as they are; ftrace_events.h says what stands on
// them.
#include <fcntl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "source/boot_ring.h"
#include "source/event_account.h"
#include "source/event_filter.h"
#include "source/ftrace_events.h"
#include "source/live_trace.h"
#include "source/page_event_reader.h"
#include "source/target/guardian.h"
#include "source/trace_instance.h"
#include "source/tracefs.h"

namespace tidemark::source {
namespace {

constexpr uint64_t kFewestRingKiB = 64;
// A buffer of 4 MiB takes some 80 ms to fill at the highest rate there is. That
// a part of it is filled can be waited for on new kernels only.
constexpr long kDrainEveryNs = 20'000'000;

constexpr std::string_view kTracing[] = {
    "trace_event_raw_event_mm_page_alloc",
    "trace_event_buffer_commit",
    "trace_buffer_unlock_commit_regs",
    "event_triggers_post_call",
    "stacktrace_trigger",
    "stacktrace_count_trigger",
    "trace_dump_stack",
    "__trace_stack",
    "__ftrace_trace_stack",
    "__traceiter_mm_page_alloc",
    "__probestub_mm_page_alloc",
};

struct Cpu {
  std::string name;  // "cpu0"
  base::Fd pages;
};

class FtraceTrace : public LiveTrace {
 public:
  explicit FtraceTrace(const Roots& roots) : roots_(roots) {}
  ~FtraceTrace() override { remove(); }
  FtraceTrace(const FtraceTrace&) = delete;
  FtraceTrace& operator=(const FtraceTrace&) = delete;

  base::Status configure(const TraceOptions& options);

  void go() override;
  void drain() override;
  int wake_fd() const override { return timer_.get(); }
  void freeze() override;
  void look() override { account_->look(); }
  Height height() const override { return account_->height(); }
  base::Result<model::Trace> read(const Roots& roots) override;
  PageAccount* hand_over(uint64_t time_ns) override;

 private:
  base::Status make_instance(const base::Directory& tracefs);
  base::Status set_up(const TraceOptions& options);
  base::Status set_filters(const TraceOptions& options) const;
  base::Status ask_for_stacks(const TraceOptions& options);
  base::Status enable_events() const;
  base::Status open_buffers();
  base::Status start_timer();
  void remove();

  void silence();
  void drain_buffers();
  void drain_cpu(size_t source);
  uint64_t lost_events() const;

  const Roots& roots_;
  FtraceEvents events_;
  // Every record has a stack behind it, not only those of allocations.
  bool all_have_stacks_ = false;
  uint64_t ring_bytes_ = 0;
  std::string page_;
  std::optional<Guardian> guardian_;
  std::optional<TraceInstance> instance_;
  std::vector<Cpu> cpus_;
  base::Fd timer_;
  std::unique_ptr<EventAccount> account_;
  bool is_on_ = false;
  std::optional<BootRing> boot_ring_;
  size_t own_sources_ = 0;
};

// --- preparing ---------------------------------------------------------------

base::Status FtraceTrace::make_instance(const base::Directory& tracefs) {
  const std::string name = "tidemark-" + std::to_string(::getpid());
  GuardedThings things;
  things.trace_instances.push_back(name);
  base::Result<Guardian> guardian = Guardian::start(things);
  if (!guardian) return guardian.error();
  guardian_.emplace(std::move(*guardian));
  base::Result<TraceInstance> instance = TraceInstance::make(tracefs, name);
  if (!instance) return instance.error();
  instance_.emplace(std::move(*instance));
  return base::Ok{};
}

base::Status FtraceTrace::set_up(const TraceOptions& options) {
  const uint64_t kib = std::max(options.ring_bytes / 1024, kFewestRingKiB);
  ring_bytes_ = kib * 1024;
  base::Status status = instance_->write("tracing_on", "0");
  // The one clock that all CPUs share and we can read.
  if (status) status = instance_->write("trace_clock", "mono");
  if (status) {
    status = instance_->write("buffer_size_kb", std::to_string(kib));
  }
  if (!status) return status;
  // What is new is dropped when it is full, and counted; and nobody's table of
  // names is filled. A kernel that knows neither does without.
  static_cast<void>(instance_->write("options/overwrite", "0"));
  static_cast<void>(instance_->write("trace_options", "norecord-cmd"));
  status = set_filters(options);
  if (status) status = ask_for_stacks(options);
  if (status) status = enable_events();
  if (status) status = open_buffers();
  if (status) status = start_timer();
  return status;
}

base::Status FtraceTrace::set_filters(const TraceOptions& options) const {
  const std::pair<const char*, std::string> filters[] = {
      {"events/kmem/mm_page_alloc/filter", alloc_event_filter(options)},
      {"events/kmem/mm_page_free/filter", free_event_filter(options)}};
  for (const auto& [file, filter] : filters) {
    if (filter.empty()) continue;
    base::Status status = instance_->write(file, filter);
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status FtraceTrace::ask_for_stacks(const TraceOptions& options) {
  const std::string folder = "events/kmem/mm_page_alloc/";
  const std::string filter = alloc_event_filter(options);
  base::Status status = instance_->write(
      folder + "trigger",
      filter.empty() ? "stacktrace" : "stacktrace if " + filter);
  if (status) return status;
  // Costs a stack for each free as well.
  all_have_stacks_ = true;
  return instance_->write("options/stacktrace", "1");
}

// Nothing is written before tracing is on.
base::Status FtraceTrace::enable_events() const {
  const auto enable = [&](std::string_view name) {
    return instance_->write("events/" + std::string(name) + "/enable", "1");
  };
  for (std::string_view name : FtraceEvents::task_events())
    static_cast<void>(enable(name));
  for (std::string_view name : events_.module_events())
    static_cast<void>(enable(name));
  for (std::string_view name : events_.page_events()) {
    base::Status status = enable(name);
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status FtraceTrace::open_buffers() {
  base::Result<base::Directory> per_cpu =
      base::open_directory_at(instance_->directory(), "per_cpu");
  if (!per_cpu) return per_cpu.error();
  base::Result<std::vector<std::string>> names = base::list_directory(*per_cpu);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const std::string file = name + "/trace_pipe_raw";
    base::Fd pages(::openat(per_cpu->fd.get(), file.c_str(),
                            O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!pages) return base::fail_errno(per_cpu->join(file), errno);
    cpus_.push_back({name, std::move(pages)});
  }
  // Since 6.8 the pages of a buffer need not be the machine's.
  size_t page_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  base::Result<std::string> size =
      base::read_file_at(instance_->directory(), "buffer_subbuf_size_kb");
  if (size) {
    const std::optional<uint64_t> kib = base::parse_u64(base::trim(*size));
    constexpr uint64_t kMostKiB = 1024;
    if (kib && *kib <= kMostKiB) {
      page_bytes = std::max<size_t>(page_bytes, *kib * 1024);
    }
  }
  page_.resize(page_bytes);
  return base::Ok{};
}

base::Status FtraceTrace::start_timer() {
  timer_ =
      base::Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const itimerspec every{{0, kDrainEveryNs}, {0, kDrainEveryNs}};
  if (!timer_ || ::timerfd_settime(timer_.get(), 0, &every, nullptr) != 0) {
    return base::fail_errno("timerfd", errno);
  }
  return base::Ok{};
}

base::Status FtraceTrace::configure(const TraceOptions& options) {
  base::Result<base::Directory> tracefs = open_tracefs(roots_);
  if (!tracefs) return tracefs.error();
  base::Result<FtraceEvents> events = FtraceEvents::make(*tracefs);
  if (!events) return events.error();
  events_ = std::move(*events);
  base::Status status = make_instance(*tracefs);
  if (status) status = set_up(options);
  if (!status) return status;
  EventAccount::Setup setup;
  if (options.takes_over) boot_ring_ = BootRing::find(roots_);
  own_sources_ = cpus_.size();
  setup.source_count =
      own_sources_ + (boot_ring_ ? boot_ring_->cpu_count() : 0);
  setup.tracing = kTracing;
  setup.tells_threads_only = true;
  base::Result<std::unique_ptr<EventAccount>> account =
      EventAccount::make(roots_, options, setup);
  if (!account) return account.error();
  account_ = std::move(*account);
  events_.begin(*account_, cpus_.size(), all_have_stacks_);
  if (!events_.module_events().empty()) account_->follow_modules();
  if (!events_.sees_moves()) account_->add_note(PageEventReader::kBlindToMoves);
  if (!events_.sees_all_of_tasks()) {
    account_->add_note(
        "names may be old: this kernel does not tell of all forks, names and "
        "ends");
  }
  return base::Ok{};
}

// Files first: the instance is not removed as long as one is open.
void FtraceTrace::remove() {
  for (Cpu& cpu : cpus_)
    cpu.pages = base::Fd();
  instance_.reset();
  guardian_.reset();
}

// --- following ---------------------------------------------------------------

void FtraceTrace::go() {
  account_->go();
  is_on_ = true;
  static_cast<void>(instance_->write("tracing_on", "1"));
  if (boot_ring_) {
    boot_ring_->fold_into(*account_, own_sources_, [this] { drain_buffers(); });
  }
  boot_ring_.reset();
}

void FtraceTrace::drain_cpu(size_t source) {
  while (true) {
    const ssize_t got =
        ::read(cpus_[source].pages.get(), page_.data(), page_.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    events_.take_page(source, {page_.data(), static_cast<size_t>(got)});
  }
}

void FtraceTrace::drain_buffers() {
  for (size_t i = 0; i < cpus_.size(); ++i)
    drain_cpu(i);
}

void FtraceTrace::drain() {
  uint64_t ticks = 0;
  static_cast<void>(::read(timer_.get(), &ticks, sizeof ticks));
  const uint64_t now_ns = base::monotonic_ns();
  drain_buffers();
  account_->settle(now_ns - EventAccount::kLatestNs);
}

uint64_t FtraceTrace::lost_events() const {
  std::vector<std::string> names;
  for (const Cpu& cpu : cpus_)
    names.push_back(cpu.name);
  return count_lost_events(instance_->directory(), names);
}

void FtraceTrace::silence() {
  static_cast<void>(instance_->write("tracing_on", "0"));
  drain_buffers();
  events_.end();
  account_->count_lost(lost_events());
}

void FtraceTrace::freeze() {
  if (!std::exchange(is_on_, false)) return;
  silence();
  account_->end();
  remove();
}

PageAccount* FtraceTrace::hand_over(uint64_t time_ns) {
  if (!std::exchange(is_on_, false)) return nullptr;
  silence();
  PageAccount& account = account_->hand_over(time_ns);
  remove();
  return &account;
}

base::Result<model::Trace> FtraceTrace::read(const Roots&) {
  model::Trace trace = account_->read(model::TraceBackend::Ftrace);
  trace.kernel_bytes = cpus_.size() * ring_bytes_;
  return trace;
}

}  // namespace

LiveTraceResult prepare_ftrace_trace(const Roots& roots,
                                     const TraceOptions& options) {
  auto trace = std::make_unique<FtraceTrace>(roots);
  base::Status status = trace->configure(options);
  if (!status) return status.error();
  return LiveTraceResult(std::move(trace));
}

}  // namespace tidemark::source
