// Page allocations through a trace buffer of our own: where neither BPF nor
// perf may be used.
//
// Pages of the buffer are read as they are. An allocation is followed by a
// record with its stack, which a trigger leaves behind it; interrupts may come
// in between, with allocations and stacks of their own. Only threads are told
// of, so that those of each process are known by their creation.
#include <fcntl.h>
#include <sched.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "parse/bytes.h"
#include "parse/ftrace_page.h"
#include "source/event_account.h"
#include "source/live_trace.h"
#include "source/page_event_reader.h"
#include "source/target/guardian.h"
#include "source/trace_instance.h"
#include "source/tracefs.h"

namespace tidemark::source {
namespace {

using Kind = PageEvent::Kind;

constexpr size_t kMostFrames = 64;
constexpr uint64_t kFewestRingKiB = 64;
// As perf_trace.cc.
constexpr uint64_t kLatestNs = 50'000'000;
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

// What is told of tasks; a kernel without one of them costs names.
struct TaskEvent {
  const char* name;
  Kind kind;
};
constexpr TaskEvent kTaskEvents[] = {
    {"task/task_newtask", Kind::Fork},
    {"task/task_rename", Kind::Rename},
    {"sched/sched_process_exec", Kind::Exec},
    {"sched/sched_process_exit", Kind::Exit},
};
struct PageEventName {
  const char* name;
  Kind kind;
};
constexpr PageEventName kPageEvents[] = {
    {"kmem/mm_page_free", Kind::Free},
    {"migrate/remove_migration_pte", Kind::Remap},
    {"migrate/set_migration_pte", Kind::Unmap},
    {"kmem/mm_page_alloc", Kind::Alloc},
};

struct TaskLayout {
  uint32_t id = 0;
  Kind kind = Kind::Fork;
  std::optional<parse::TraceField> pid;
  std::optional<parse::TraceField> name;
  std::optional<parse::TraceField> flags;
  std::optional<parse::TraceField> is_last;
};

std::optional<parse::TraceField> field_of(const parse::TraceFormat& format,
                                          const char* name) {
  const parse::TraceField* field = format.find(name);
  if (!field) return std::nullopt;
  return *field;
}

// An allocation whose stack is still to come.
struct Waiting {
  std::optional<PageEvent> event;  // none: nobody asks for it
  int level = 0;                   // of interrupts on top of each other
};

struct Cpu {
  std::string name;  // "cpu0"
  base::Fd pages;
  std::vector<Waiting> waiting;
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

 private:
  base::Status read_formats(const base::Directory& tracefs);
  void read_task_formats(const base::Directory& tracefs);
  base::Status make_instance(const base::Directory& tracefs);
  base::Status set_up(const TraceOptions& options);
  base::Status ask_for_stacks(const TraceOptions& options);
  base::Status enable_events() const;
  base::Status open_buffers();
  base::Status start_timer();
  void remove();

  void drain_buffers();
  void drain_cpu(size_t source);
  void take(size_t source, const parse::FtraceRecord& record);
  void take_page_event(size_t source, Kind kind,
                       const parse::FtraceRecord& record);
  void take_stack(size_t source, std::string_view record);
  void take_task(size_t source, const TaskLayout& layout,
                 const parse::FtraceRecord& record);
  void wait_for_stack(size_t source, std::optional<PageEvent> event,
                      std::string_view record);
  void push_without_stack(size_t source, const Waiting& waiting);
  int level_of(std::string_view record) const;
  uint64_t lost_events() const;

  const Roots& roots_;
  PageEventReader reader_;
  parse::FtracePageLayout page_layout_;
  parse::TraceFormat stack_;
  parse::TraceField stack_size_;
  parse::TraceField stack_callers_;
  parse::TraceField type_;
  parse::TraceField flags_;
  parse::TraceField thread_;
  std::vector<TaskLayout> tasks_;
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
};

// --- preparing ---------------------------------------------------------------

base::Status FtraceTrace::read_formats(const base::Directory& tracefs) {
  base::Result<PageEventReader> reader = PageEventReader::make(tracefs);
  if (!reader) return reader.error();
  reader_ = std::move(*reader);
  base::Result<std::string> header =
      base::read_file_at(tracefs, "events/header_page");
  if (!header) return header.error();
  base::Result<parse::FtracePageLayout> layout =
      parse::parse_ftrace_page_layout(*header);
  if (!layout) return layout.error();
  page_layout_ = *layout;
  base::Result<parse::TraceFormat> stack =
      read_trace_format(tracefs, "ftrace/kernel_stack");
  if (!stack) return stack.error();
  stack_ = std::move(*stack);
  const std::pair<const char*, parse::TraceField*> wanted[] = {
      {"common_type", &type_},     {"common_flags", &flags_},
      {"common_pid", &thread_},    {"size", &stack_size_},
      {"caller", &stack_callers_},
  };
  for (const auto& [name, target] : wanted) {
    const parse::TraceField* field = stack_.find(name);
    if (!field) {
      return base::fail(base::ErrorKind::Unsupported,
                        "this kernel's traces have no " + std::string(name));
    }
    *target = *field;
  }
  read_task_formats(tracefs);
  return base::Ok{};
}

void FtraceTrace::read_task_formats(const base::Directory& tracefs) {
  for (const TaskEvent& event : kTaskEvents) {
    base::Result<parse::TraceFormat> format =
        read_trace_format(tracefs, event.name);
    if (!format) continue;
    TaskLayout& layout = tasks_.emplace_back();
    layout.id = format->id;
    layout.kind = event.kind;
    layout.pid = field_of(*format, "pid");
    layout.name = field_of(*format, "newcomm");
    layout.flags = field_of(*format, "clone_flags");
    layout.is_last = field_of(*format, "group_dead");
  }
}

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
  status = ask_for_stacks(options);
  if (status) status = enable_events();
  if (status) status = open_buffers();
  if (status) status = start_timer();
  return status;
}

std::string order_filter(const TraceFilter& filter) {
  const TraceFilter all;
  if (filter.least_order == all.least_order &&
      filter.most_order == all.most_order) {
    return {};
  }
  return "order >= " + std::to_string(filter.least_order) +
         " && order <= " + std::to_string(filter.most_order);
}

base::Status FtraceTrace::ask_for_stacks(const TraceOptions& options) {
  const std::string folder = "events/kmem/mm_page_alloc/";
  const std::string filter = order_filter(options.filter);
  if (!filter.empty()) {
    base::Status status = instance_->write(folder + "filter", filter);
    if (!status) return status;
  }
  base::Status status = instance_->write(
      folder + "trigger",
      filter.empty() ? "stacktrace" : "stacktrace if " + filter);
  if (status) return status;
  // Costs a stack for each free as well.
  all_have_stacks_ = true;
  return instance_->write("options/stacktrace", "1");
}

// The end of a page is listened for before its beginning. Nothing is written
// before tracing is on.
base::Status FtraceTrace::enable_events() const {
  for (const TaskEvent& event : kTaskEvents) {
    static_cast<void>(
        instance_->write("events/" + std::string(event.name) + "/enable", "1"));
  }
  for (const PageEventName& event : kPageEvents) {
    if (reader_.event_id(event.kind) == 0) continue;
    base::Status status =
        instance_->write("events/" + std::string(event.name) + "/enable", "1");
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
    cpus_.push_back({name, std::move(pages), {}});
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
  base::Status status = read_formats(*tracefs);
  if (status) status = make_instance(*tracefs);
  if (status) status = set_up(options);
  if (!status) return status;
  EventAccount::Setup setup;
  setup.source_count = cpus_.size();
  setup.tracing = kTracing;
  setup.tells_threads_only = true;
  base::Result<std::unique_ptr<EventAccount>> account =
      EventAccount::make(roots_, options, setup);
  if (!account) return account.error();
  account_ = std::move(*account);
  if (!reader_.sees_moves()) account_->add_note(PageEventReader::kBlindToMoves);
  if (tasks_.size() < std::size(kTaskEvents)) {
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
}

int FtraceTrace::level_of(std::string_view record) const {
  constexpr uint64_t kHardInterrupt = 0x08;
  constexpr uint64_t kSoftInterrupt = 0x10;
  constexpr uint64_t kNotMaskable = 0x40;
  const uint64_t flags = parse::read_field(record, flags_).value_or(0);
  if (flags & kNotMaskable) return 3;
  if (flags & kHardInterrupt) return 2;
  return flags & kSoftInterrupt ? 1 : 0;
}

// Its stack found no room: the pages count all the same.
void FtraceTrace::push_without_stack(size_t source, const Waiting& waiting) {
  if (!waiting.event || waiting.event->kind != Kind::Alloc) return;
  PageEvent event = *waiting.event;
  const std::optional<uint32_t> none = account_->find_stack({});
  if (!none) return;
  event.stack = *none;
  account_->push(source, event);
}

void FtraceTrace::wait_for_stack(size_t source, std::optional<PageEvent> event,
                                 std::string_view record) {
  std::vector<Waiting>& waiting = cpus_[source].waiting;
  const int level = level_of(record);
  // Whoever goes on at this level has done with all above it.
  while (!waiting.empty() && waiting.back().level >= level) {
    push_without_stack(source, waiting.back());
    waiting.pop_back();
  }
  waiting.push_back({event, level});
}

void FtraceTrace::take_stack(size_t source, std::string_view record) {
  std::vector<Waiting>& waiting = cpus_[source].waiting;
  if (waiting.empty()) return;
  const Waiting owner = waiting.back();
  waiting.pop_back();
  if (!owner.event) return;
  const uint64_t size = parse::read_field(record, stack_size_).value_or(0);
  std::array<uint64_t, kMostFrames> frames{};
  size_t count = 0;
  while (count < size && count < frames.size()) {
    const std::optional<uint64_t> address = parse::read_at<uint64_t>(
        record, stack_callers_.offset + count * sizeof(uint64_t));
    // Older kernels have one of these behind the last.
    if (!address || *address == ~uint64_t{0}) break;
    frames[count++] = *address;
  }
  PageEvent event = *owner.event;
  const std::optional<uint32_t> stack =
      account_->find_stack(std::span(frames).first(count));
  if (!stack) return;
  event.stack = *stack;
  account_->push(source, event);
}

void FtraceTrace::take_page_event(size_t source, Kind kind,
                                  const parse::FtraceRecord& record) {
  std::optional<PageEvent> event = reader_.read(kind, record.data, *account_);
  if (event) event->time_ns = record.time_ns;
  if (kind == Kind::Alloc) return wait_for_stack(source, event, record.data);
  if (event) account_->push(source, *event);
  if (all_have_stacks_) wait_for_stack(source, std::nullopt, record.data);
}

void FtraceTrace::take_task(size_t source, const TaskLayout& layout,
                            const parse::FtraceRecord& record) {
  const auto number = [&](const std::optional<parse::TraceField>& field) {
    return field ? parse::read_field(record.data, *field) : std::nullopt;
  };
  const auto actor =
      static_cast<int32_t>(parse::read_field(record.data, thread_).value_or(0));
  PageEvent event;
  event.kind = layout.kind;
  event.time_ns = record.time_ns;
  event.pid = static_cast<int32_t>(
      number(layout.pid).value_or(static_cast<uint32_t>(actor)));
  if (layout.kind == Kind::Fork) {
    const bool is_thread =
        (number(layout.flags).value_or(0) & CLONE_THREAD) != 0;
    event.other_pid = actor;
    if (is_thread) {
      event.kind = Kind::Thread;
      std::swap(event.pid, event.other_pid);
    }
  }
  if (layout.kind == Kind::Exec) {
    return account_->push_exec(source, event.time_ns, event.pid);
  }
  if (layout.kind == Kind::Rename && layout.name) {
    event.stack = account_->keep_name(
        std::string(parse::read_text_field(record.data, *layout.name)));
  }
  if (layout.kind == Kind::Exit) {
    const std::optional<uint64_t> is_last = number(layout.is_last);
    if (is_last && *is_last == 0) return;
    event.other_pid = is_last ? 1 : 0;
  }
  account_->push(source, event);
}

void FtraceTrace::take(size_t source, const parse::FtraceRecord& record) {
  const std::optional<uint64_t> id = parse::read_field(record.data, type_);
  if (!id) return;
  if (*id == stack_.id) return take_stack(source, record.data);
  for (const PageEventName& event : kPageEvents) {
    if (reader_.event_id(event.kind) == *id) {
      return take_page_event(source, event.kind, record);
    }
  }
  for (const TaskLayout& layout : tasks_) {
    if (layout.id != *id) continue;
    take_task(source, layout, record);
    if (all_have_stacks_) wait_for_stack(source, std::nullopt, record.data);
    return;
  }
}

void FtraceTrace::drain_cpu(size_t source) {
  while (true) {
    const ssize_t got =
        ::read(cpus_[source].pages.get(), page_.data(), page_.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    parse::FtracePage page({page_.data(), static_cast<size_t>(got)},
                           page_layout_);
    parse::FtraceRecord record;
    while (page.next(record))
      take(source, record);
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
  account_->settle(now_ns - kLatestNs);
}

uint64_t FtraceTrace::lost_events() const {
  uint64_t lost = 0;
  for (const Cpu& cpu : cpus_) {
    base::Result<std::string> text = base::read_file_at(
        instance_->directory(), "per_cpu/" + cpu.name + "/stats");
    if (!text) continue;
    std::string_view rest = *text;
    while (!rest.empty()) {
      std::string_view value = base::take_line(rest);
      const std::string_view key = base::take_until(value, ':');
      if (key != "overrun" && key != "commit overrun" &&
          key != "dropped events") {
        continue;
      }
      lost += base::parse_u64(base::trim(value)).value_or(0);
    }
  }
  return lost;
}

void FtraceTrace::freeze() {
  if (!std::exchange(is_on_, false)) return;
  static_cast<void>(instance_->write("tracing_on", "0"));
  drain_buffers();
  for (size_t i = 0; i < cpus_.size(); ++i) {
    for (const Waiting& waiting : cpus_[i].waiting)
      push_without_stack(i, waiting);
  }
  account_->end();
  account_->count_lost(lost_events());
  remove();
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
