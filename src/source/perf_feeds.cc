#include "source/perf_feeds.h"

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <span>
#include <utility>

#include "source/descriptor_limit.h"
#include "source/event_filter.h"
#include "source/tracefs.h"

namespace tidemark::source {
namespace {

using Kind = PageEvent::Kind;

constexpr size_t kFewestRingBytes = 65536;

// Each is open on every CPU. The first one owns the ring and has the stack.
constexpr Kind kPageKinds[] = {Kind::Alloc, Kind::Free, Kind::Unmap,
                               Kind::Remap};
// In a ring of their own, since each of these wakes us at once: the arguments
// of a short command are gone with it, the functions of init with init.
constexpr Kind kUrgentKinds[] = {Kind::Exec, Kind::ModuleLoad,
                                 Kind::ModuleFree};

bool is_urgent(Kind kind) {
  return std::find(std::begin(kUrgentKinds), std::end(kUrgentKinds), kind) !=
         std::end(kUrgentKinds);
}

int perf_event_open(perf_event_attr& attr, int cpu) {
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

base::Error open_error(int err) {
  base::Error error = base::fail_errno("cannot open a perf event", err);
  if (error.kind == base::ErrorKind::Denied) {
    error.hint = "it needs root, or CAP_PERFMON";
  }
  if (err == EMFILE) error.hint = "several are open for each CPU: ulimit -n";
  return error;
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

}  // namespace

base::Status PerfFeeds::read_formats(const Roots& roots) {
  base::Result<base::Directory> tracefs = open_tracefs(roots);
  if (!tracefs) return tracefs.error();
  base::Result<PageEventReader> reader = PageEventReader::make(*tracefs);
  if (!reader) return reader.error();
  reader_ = std::move(*reader);
  modules_ = ModuleEventReader::make(*tracefs);
  base::Result<parse::TraceFormat> exec =
      read_trace_format(*tracefs, "sched/sched_process_exec");
  if (exec) exec_event_id_ = exec->id;
  return base::Ok{};
}

uint32_t PerfFeeds::id_of(Kind kind) const {
  if (kind == Kind::Exec) return exec_event_id_;
  const uint32_t id = reader_.event_id(kind);
  return id != 0 ? id : modules_.event_id(kind);
}

perf_event_attr PerfFeeds::attributes_of(Kind kind) const {
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
  if (is_urgent(kind)) {
    attr.wakeup_events = 1;
  } else {
    attr.watermark = 1;
    attr.wakeup_watermark = static_cast<uint32_t>(ring_bytes_ / 2);
  }
  if (counts_lost_) attr.read_format = PERF_FORMAT_LOST;
  if (kind != Kind::Alloc) return attr;
  attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  attr.exclude_callchain_user = 1;
  attr.sample_max_stack = static_cast<uint16_t>(kMostFrames);
  // Who comes and goes and under what name, in the same order.
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  return attr;
}

base::Result<PerfFeeds::OpenEvent> PerfFeeds::open_event(Kind kind, int cpu) {
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

base::Status PerfFeeds::share_ring(Feed& feed, size_t bytes) {
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

base::Status PerfFeeds::open_feed(int number, Which which) {
  const bool is_for_pages = which == Which::Others;
  Feed feed;
  feed.which = which;
  for (Kind kind : is_for_pages ? std::span<const Kind>(kPageKinds)
                                : std::span<const Kind>(kUrgentKinds)) {
    if (id_of(kind) == 0) continue;
    base::Result<OpenEvent> event = open_event(kind, number);
    if (!event) return event.error();
    feed.events.push_back(std::move(*event));
  }
  if (feed.events.empty()) return base::Ok{};
  base::Status status =
      share_ring(feed, is_for_pages ? ring_bytes_ : kFewestRingBytes);
  if (status) feeds_.push_back(std::move(feed));
  return status;
}

base::Status PerfFeeds::open_cpu(int number) {
  base::Status status = open_feed(number, Which::Others);
  if (!status) return status;
  return open_feed(number, Which::Urgent);
}

base::Status PerfFeeds::open_all(const TraceOptions& options) {
  const auto count = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
  // Several for each CPU: a machine can have hundreds. What the command starts
  // with is not touched, it has been started by now.
  allow_descriptors(static_cast<size_t>(count) *
                    (std::size(kPageKinds) + std::size(kUrgentKinds)));
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

base::Status PerfFeeds::set_filters(const TraceOptions& options) const {
  const std::string alloc = alloc_event_filter(options);
  const std::string free = free_event_filter(options);
  for (const Feed& feed : feeds_) {
    for (const OpenEvent& event : feed.events) {
      const std::string& filter = event.kind == Kind::Alloc ? alloc : free;
      if (filter.empty() ||
          (event.kind != Kind::Alloc && event.kind != Kind::Free)) {
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

base::Status PerfFeeds::watch_rings() {
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

base::Status PerfFeeds::open(const Roots& roots, const TraceOptions& options) {
  ring_bytes_ =
      std::bit_ceil(std::max<size_t>(options.ring_bytes, kFewestRingBytes));
  base::Status status = read_formats(roots);
  if (!status) return status;
  return open_all(options);
}

void PerfFeeds::enable() const {
  std::vector<Kind> order(std::begin(kUrgentKinds), std::end(kUrgentKinds));
  order.insert(order.end(),
               {Kind::Free, Kind::Remap, Kind::Unmap, Kind::Alloc});
  for (Kind kind : order) {
    for (const Feed& feed : feeds_) {
      for (const OpenEvent& event : feed.events) {
        if (event.kind != kind) continue;
        ::ioctl(event.fd.get(), PERF_EVENT_IOC_ENABLE, 0);
      }
    }
  }
}

void PerfFeeds::disable() const {
  for (const Feed& feed : feeds_) {
    for (const OpenEvent& event : feed.events)
      ::ioctl(event.fd.get(), PERF_EVENT_IOC_DISABLE, 0);
  }
}

std::optional<Kind> PerfFeeds::kind_of(size_t feed, uint64_t event_id) const {
  for (const OpenEvent& event : feeds_[feed].events) {
    if (event.id == event_id) return event.kind;
  }
  return std::nullopt;
}

uint64_t PerfFeeds::lost_events() const {
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

}  // namespace tidemark::source
