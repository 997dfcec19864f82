// Page allocations through perf: kmem's events, into one ring for each CPU so
// that their order is kept, with the time so that those of several CPUs can be
// put in order.
#include <linux/perf_event.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "parse/perf_records.h"
#include "source/event_account.h"
#include "source/event_filter.h"
#include "source/live_trace.h"
#include "source/page_event_reader.h"
#include "source/perf_ring.h"
#include "source/tracefs.h"

namespace tidemark::source {
namespace {

using parse::PerfRecord;
using parse::PerfRecordKind;

constexpr uint16_t kMostFrames = 64;
constexpr size_t kFewestRingBytes = 65536;

// How long after it happened an event may still be missing from its ring: a
// virtual CPU can be taken away while it writes one.
constexpr uint64_t kLatestNs = 50'000'000;

constexpr std::string_view kTracing[] = {
    "perf_trace_mm_page_alloc",
    "__traceiter_mm_page_alloc",
    "__probestub_mm_page_alloc",
    "perf_trace_run_bpf_submit",
    "perf_tp_event",
    "__bpf_trace_mm_page_alloc",
};

using EventKind = PageEvent::Kind;

// Each is open on every CPU. The first one owns the ring and has the stack.
constexpr EventKind kEventKinds[] = {EventKind::Alloc, EventKind::Free,
                                     EventKind::Unmap, EventKind::Remap};

struct OpenEvent {
  base::Fd fd;
  uint64_t id = 0;  // stands in each of its records
  EventKind kind = EventKind::Alloc;
};

// What comes through one ring, all of it in order.
struct Feed {
  std::vector<OpenEvent> events;  // the first one owns the ring
  std::optional<PerfRing> ring;
};

int perf_event_open(perf_event_attr& attr, int cpu) {
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

base::Error open_error(int err) {
  base::Error error = base::fail_errno("cannot open a perf event", err);
  if (error.kind == base::ErrorKind::Denied) {
    error.hint = "it needs root, or CAP_PERFMON";
  }
  if (err == EMFILE) error.hint = "five are open for each CPU: ulimit -n";
  return error;
}

// Five descriptors for each CPU: a machine can have hundreds. What the command
// starts with is not touched, it has been started by now.
void allow_descriptors(size_t more) {
  constexpr size_t kOthers = 128;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t needed = more + kOthers;
  if (limit.rlim_cur >= needed) return;
  const rlim_t most = limit.rlim_max;
  limit.rlim_cur = needed;
  limit.rlim_max = std::max(most, needed);
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  limit.rlim_cur = limit.rlim_max = most;  // what we may without rights
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

class PerfTrace : public LiveTrace {
 public:
  explicit PerfTrace(const Roots& roots) : roots_(roots) {}
  base::Status configure(const TraceOptions& options);

  void go() override;
  void drain() override;
  int wake_fd() const override { return wake_.get(); }
  void freeze() override;
  void look() override { account_->look(); }
  Height height() const override { return account_->height(); }
  base::Result<model::Trace> read(const Roots& roots) override;

 private:
  base::Status read_formats();
  perf_event_attr attributes_of(EventKind kind) const;
  base::Status open_all(const TraceOptions& options);
  base::Status open_cpu(int number);
  base::Status open_exec_feed(int number);
  base::Result<OpenEvent> open_event(EventKind kind, int cpu);
  static base::Status share_ring(Feed& feed, size_t bytes);
  uint32_t id_of(EventKind kind) const;
  base::Status set_filters(const TraceOptions& options) const;
  base::Status watch_rings();
  void enable(EventKind kind) const;

  void drain_rings();
  void take(size_t source, std::string_view bytes);
  void take_sample(size_t source, const PerfRecord& record, EventKind kind);
  void take_alloc(size_t source, const PerfRecord& record, PageEvent event);
  void take_task(size_t source, const PerfRecord& record);
  uint64_t lost_by_count() const;

  const Roots& roots_;
  PageEventReader reader_;
  size_t ring_bytes_ = 0;
  bool counts_lost_ = true;
  std::vector<Feed> feeds_;
  uint32_t exec_event_id_ = 0;  // 0: not there
  size_t cpu_count_ = 0;
  std::vector<std::string> notes_;
  base::Fd wake_;
  std::unique_ptr<EventAccount> account_;
  uint64_t lost_by_record_ = 0;
  bool is_on_ = false;
};

// --- preparing ---------------------------------------------------------------

base::Status PerfTrace::read_formats() {
  base::Result<base::Directory> tracefs = open_tracefs(roots_);
  if (!tracefs) return tracefs.error();
  base::Result<PageEventReader> reader = PageEventReader::make(*tracefs);
  if (!reader) return reader.error();
  reader_ = std::move(*reader);
  base::Result<parse::TraceFormat> exec =
      read_trace_format(*tracefs, "sched/sched_process_exec");
  if (exec) exec_event_id_ = exec->id;
  return base::Ok{};
}

uint32_t PerfTrace::id_of(EventKind kind) const {
  return kind == EventKind::Exec ? exec_event_id_ : reader_.event_id(kind);
}

perf_event_attr PerfTrace::attributes_of(EventKind kind) const {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.size = sizeof attr;
  attr.config = id_of(kind);
  attr.disabled = 1;
  attr.sample_period = 1;
  // Not PERIOD: with it a tracepoint does not heed its period.
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
                     PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
  attr.sample_id_all = 1;
  // The same on all CPUs, unlike perf's own.
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  if (kind == EventKind::Exec) {
    attr.wakeup_events = 1;
  } else {
    attr.watermark = 1;
    attr.wakeup_watermark = static_cast<uint32_t>(ring_bytes_ / 2);
  }
  if (counts_lost_) attr.read_format = PERF_FORMAT_LOST;
  if (kind != EventKind::Alloc) return attr;
  attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  attr.exclude_callchain_user = 1;
  attr.sample_max_stack = kMostFrames;
  // Who comes and goes and under what name, in the same order.
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  return attr;
}

base::Result<OpenEvent> PerfTrace::open_event(EventKind kind, int cpu) {
  perf_event_attr attr = attributes_of(kind);
  base::Fd fd(perf_event_open(attr, cpu));
  if (!fd && errno == EINVAL && counts_lost_) {
    // Since 6.0 an event counts what it lost; before that only records tell.
    counts_lost_ = false;
    attr = attributes_of(kind);
    fd = base::Fd(perf_event_open(attr, cpu));
  }
  if (!fd) return open_error(errno);
  OpenEvent event;
  if (::ioctl(fd.get(), PERF_EVENT_IOC_ID, &event.id) != 0) {
    return base::fail_errno("cannot tell a perf event's number", errno);
  }
  event.fd = std::move(fd);
  event.kind = kind;
  return event;
}

base::Status PerfTrace::share_ring(Feed& feed, size_t bytes) {
  const int owner = feed.events.front().fd.get();
  base::Result<PerfRing> ring = PerfRing::map(owner, bytes);
  if (!ring) return ring.error();
  feed.ring.emplace(std::move(*ring));
  for (size_t i = 1; i < feed.events.size(); ++i) {
    if (::ioctl(feed.events[i].fd.get(), PERF_EVENT_IOC_SET_OUTPUT, owner) !=
        0) {
      return base::fail_errno("cannot share a ring between events", errno);
    }
  }
  return base::Ok{};
}

base::Status PerfTrace::open_cpu(int number) {
  Feed& feed = feeds_.emplace_back();
  for (EventKind kind : kEventKinds) {
    if (id_of(kind) == 0) continue;
    base::Result<OpenEvent> event = open_event(kind, number);
    if (!event) return event.error();
    feed.events.push_back(std::move(*event));
  }
  base::Status status = share_ring(feed, ring_bytes_);
  if (!status || exec_event_id_ == 0) return status;
  return open_exec_feed(number);
}

// A ring of its own, since each of these wakes us at once: the arguments of a
// short command are gone with it.
base::Status PerfTrace::open_exec_feed(int number) {
  base::Result<OpenEvent> event = open_event(EventKind::Exec, number);
  if (!event) return event.error();
  Feed& feed = feeds_.emplace_back();
  feed.events.push_back(std::move(*event));
  return share_ring(feed, kFewestRingBytes);
}

bool is_offline(int number) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = sizeof attr;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.disabled = 1;
  const base::Fd fd(perf_event_open(attr, number));
  return !fd && errno == ENODEV;
}

base::Status PerfTrace::open_all(const TraceOptions& options) {
  const auto count = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
  allow_descriptors(static_cast<size_t>(count) * (std::size(kEventKinds) + 1));
  int offline_count = 0;
  for (int number = 0; number < count; ++number) {
    if (is_offline(number)) {
      ++offline_count;
      continue;
    }
    ++cpu_count_;
    base::Status status = open_cpu(number);
    if (!status) {
      return base::within("CPU " + std::to_string(number), status.error());
    }
  }
  if (offline_count > 0) {
    notes_.push_back(std::to_string(offline_count) +
                     " CPUs are offline: should they come back, what they do "
                     "is not seen");
  }
  base::Status status = set_filters(options);
  if (!status) return status;
  return watch_rings();
}

base::Status PerfTrace::set_filters(const TraceOptions& options) const {
  const std::string alloc = alloc_event_filter(options);
  const std::string free = free_event_filter(options);
  for (const Feed& feed : feeds_) {
    for (const OpenEvent& event : feed.events) {
      const std::string& filter = event.kind == EventKind::Alloc ? alloc : free;
      if (filter.empty() ||
          (event.kind != EventKind::Alloc && event.kind != EventKind::Free)) {
        continue;
      }
      if (::ioctl(event.fd.get(), PERF_EVENT_IOC_SET_FILTER, filter.c_str()) !=
          0) {
        return base::fail_errno("cannot filter events", errno);
      }
    }
  }
  return base::Ok{};
}

base::Status PerfTrace::watch_rings() {
  wake_ = base::Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!wake_) return base::fail_errno("epoll", errno);
  for (const Feed& feed : feeds_) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (::epoll_ctl(wake_.get(), EPOLL_CTL_ADD, feed.events.front().fd.get(),
                    &event) != 0) {
      return base::fail_errno("epoll", errno);
    }
  }
  return base::Ok{};
}

base::Status PerfTrace::configure(const TraceOptions& options) {
  ring_bytes_ =
      std::bit_ceil(std::max<size_t>(options.ring_bytes, kFewestRingBytes));
  base::Status status = read_formats();
  if (!status) return status;
  status = open_all(options);
  if (!status) return status;
  EventAccount::Setup setup;
  setup.source_count = feeds_.size();
  setup.tracing = kTracing;
  base::Result<std::unique_ptr<EventAccount>> account =
      EventAccount::make(roots_, options, setup);
  if (!account) return account.error();
  account_ = std::move(*account);
  if (!reader_.sees_moves()) account_->add_note(PageEventReader::kBlindToMoves);
  for (std::string& note : notes_)
    account_->add_note(std::move(note));
  return base::Ok{};
}

// --- following ---------------------------------------------------------------

void PerfTrace::enable(EventKind kind) const {
  for (const Feed& feed : feeds_) {
    for (const OpenEvent& event : feed.events) {
      if (event.kind == kind) ::ioctl(event.fd.get(), PERF_EVENT_IOC_ENABLE, 0);
    }
  }
}

// The end of a page is listened for before its beginning.
void PerfTrace::go() {
  account_->go();
  is_on_ = true;
  for (EventKind kind : {EventKind::Exec, EventKind::Free, EventKind::Remap,
                         EventKind::Unmap, EventKind::Alloc}) {
    enable(kind);
  }
}

void PerfTrace::take_alloc(size_t source, const PerfRecord& record,
                           PageEvent event) {
  std::array<uint64_t, kMostFrames> frames{};
  size_t count = 0;
  for (size_t at = 0; at + 8 <= record.call_chain.size(); at += 8) {
    uint64_t address = 0;
    std::memcpy(&address, record.call_chain.data() + at, sizeof address);
    // Marks between addresses say whose those are that follow.
    if (address >= PERF_CONTEXT_MAX || count == frames.size()) continue;
    frames[count++] = address;
  }
  const std::optional<uint32_t> stack =
      account_->find_stack(std::span(frames).first(count));
  if (!stack) return;
  event.stack = *stack;
  // Ending, it has no pid any more; the event still has its thread's.
  if (record.pid >= 0) event.pid = record.pid;
  account_->push(source, event);
}

void PerfTrace::take_sample(size_t source, const PerfRecord& record,
                            EventKind kind) {
  if (kind == EventKind::Exec) {
    return account_->push_exec(source, record.time_ns, record.pid);
  }
  std::optional<PageEvent> event = reader_.read(kind, record.raw, *account_);
  if (!event) return;
  event->time_ns = record.time_ns;
  if (kind == EventKind::Alloc) return take_alloc(source, record, *event);
  account_->push(source, *event);
}

// Of threads only the first of each process matters: it has its pid.
void PerfTrace::take_task(size_t source, const PerfRecord& record) {
  if (record.thread_id != record.pid) return;
  PageEvent event;
  event.time_ns = record.time_ns;
  event.pid = record.pid;
  event.other_pid = record.parent_pid;
  if (record.kind == PerfRecordKind::Fork) event.kind = PageEvent::Kind::Fork;
  if (record.kind == PerfRecordKind::Exit) event.kind = PageEvent::Kind::Exit;
  if (record.kind == PerfRecordKind::Comm) {
    event.kind = PageEvent::Kind::Rename;
    event.stack = account_->keep_name(std::string(record.name));
    if (record.is_exec && exec_event_id_ == 0) {
      account_->push_exec(source, record.time_ns, record.pid);
    }
  }
  account_->push(source, event);
}

void PerfTrace::take(size_t source, std::string_view bytes) {
  EventKind kind = EventKind::Free;
  bool is_known = false;
  const std::optional<PerfRecord> record =
      parse::parse_perf_record(bytes, [&](uint64_t id) {
        for (const OpenEvent& event : feeds_[source].events) {
          if (event.id != id) continue;
          kind = event.kind;
          is_known = true;
        }
        return is_known && kind == EventKind::Alloc;
      });
  if (!record) return;
  switch (record->kind) {
    case PerfRecordKind::Sample:
      if (is_known) take_sample(source, *record, kind);
      return;
    case PerfRecordKind::Fork:
    case PerfRecordKind::Exit:
    case PerfRecordKind::Comm:
      take_task(source, *record);
      return;
    case PerfRecordKind::Lost:
      lost_by_record_ += record->lost_count;
      return;
    case PerfRecordKind::Other:
      return;
  }
}

void PerfTrace::drain_rings() {
  for (size_t i = 0; i < feeds_.size(); ++i) {
    feeds_[i].ring->drain([&](std::string_view record) { take(i, record); });
  }
}

void PerfTrace::drain() {
  const uint64_t now_ns = base::monotonic_ns();
  drain_rings();
  account_->settle(now_ns - kLatestNs);
}

// What was lost since the last record that found room is told by no record.
uint64_t PerfTrace::lost_by_count() const {
  if (!counts_lost_) return 0;
  uint64_t lost = 0;
  for (const Feed& feed : feeds_) {
    for (const OpenEvent& event : feed.events) {
      std::array<uint64_t, 2> values{};  // events, and those lost
      if (::read(event.fd.get(), values.data(), sizeof values) ==
          static_cast<ssize_t>(sizeof values)) {
        lost += values[1];
      }
    }
  }
  return lost;
}

void PerfTrace::freeze() {
  if (!std::exchange(is_on_, false)) return;
  for (const Feed& feed : feeds_) {
    for (const OpenEvent& event : feed.events)
      ::ioctl(event.fd.get(), PERF_EVENT_IOC_DISABLE, 0);
  }
  drain_rings();
  account_->end();
  account_->count_lost(std::max(lost_by_record_, lost_by_count()));
}

base::Result<model::Trace> PerfTrace::read(const Roots&) {
  model::Trace trace = account_->read(model::TraceBackend::Perf);
  trace.kernel_bytes = cpu_count_ * ring_bytes_;
  return trace;
}

}  // namespace

LiveTraceResult prepare_perf_trace(const Roots& roots,
                                   const TraceOptions& options) {
  auto trace = std::make_unique<PerfTrace>(roots);
  base::Status status = trace->configure(options);
  if (!status) return status.error();
  return LiveTraceResult(std::move(trace));
}

}  // namespace tidemark::source
