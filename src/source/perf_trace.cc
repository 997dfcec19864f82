// Page allocations through perf: every event comes to us and is booked here.
#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "parse/perf_records.h"
#include "source/boot_ring.h"
#include "source/event_account.h"
#include "source/live_trace.h"
#include "source/page_event_reader.h"
#include "source/perf_feeds.h"

namespace tidemark::source {
namespace {

using parse::PerfRecord;
using parse::PerfRecordKind;

constexpr std::string_view kTracing[] = {
    "perf_trace_mm_page_alloc",
    "__traceiter_mm_page_alloc",
    "__probestub_mm_page_alloc",
    "perf_trace_run_bpf_submit",
    "perf_tp_event",
    "__bpf_trace_mm_page_alloc",
};

using EventKind = PageEvent::Kind;

class PerfTrace : public LiveTrace {
 public:
  explicit PerfTrace(const Roots& roots) : roots_(roots) {}
  base::Status configure(const TraceOptions& options);

  void go() override;
  void drain() override;
  int wake_fd() const override { return feeds_.wake_fd(); }
  void freeze() override;
  void look() override { account_->look(); }
  Height height() const override { return account_->height(); }
  base::Result<model::Trace> read(const Roots& roots) override;
  PageAccount* hand_over(uint64_t time_ns) override;

 private:
  void silence();
  void drain_rings();
  void take(size_t source, std::string_view bytes);
  void take_sample(size_t source, const PerfRecord& record, EventKind kind);
  void take_alloc(size_t source, const PerfRecord& record, PageEvent event);
  void take_task(size_t source, const PerfRecord& record);

  const Roots& roots_;
  PerfFeeds feeds_;
  std::unique_ptr<EventAccount> account_;
  uint64_t lost_by_record_ = 0;
  bool is_on_ = false;
  std::optional<BootRing> boot_ring_;
  size_t own_sources_ = 0;
};

base::Status PerfTrace::configure(const TraceOptions& options) {
  base::Status status = feeds_.open(roots_, options);
  if (!status) return status;
  EventAccount::Setup setup;
  if (options.takes_over) boot_ring_ = BootRing::find(roots_);
  own_sources_ = feeds_.count();
  setup.source_count =
      own_sources_ + (boot_ring_ ? boot_ring_->cpu_count() : 0);
  setup.tracing = kTracing;
  base::Result<std::unique_ptr<EventAccount>> account =
      EventAccount::make(roots_, options, setup);
  if (!account) return account.error();
  account_ = std::move(*account);
  if (!feeds_.reader().sees_moves()) {
    account_->add_note(PageEventReader::kBlindToMoves);
  }
  if (feeds_.modules().sees_modules()) account_->follow_modules();
  for (const std::string& note : feeds_.notes())
    account_->add_note(note);
  return base::Ok{};
}

void PerfTrace::go() {
  account_->go();
  is_on_ = true;
  feeds_.enable();
  if (boot_ring_) {
    boot_ring_->fold_into(*account_, own_sources_, [this] { drain_rings(); });
  }
  boot_ring_.reset();
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
  if (kind == EventKind::ModuleLoad || kind == EventKind::ModuleFree) {
    PageEvent event;
    event.kind = kind;
    event.time_ns = record.time_ns;
    event.other_pid = record.thread_id;
    return account_->push_module(source, event,
                                 feeds_.modules().name_in(kind, record.raw));
  }
  std::optional<PageEvent> event =
      feeds_.reader().read(kind, record.raw, *account_);
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
    if (record.is_exec && !feeds_.tells_execs()) {
      account_->push_exec(source, record.time_ns, record.pid);
    }
  }
  account_->push(source, event);
}

void PerfTrace::take(size_t source, std::string_view bytes) {
  std::optional<EventKind> kind;
  const std::optional<PerfRecord> record =
      parse::parse_perf_record(bytes, [&](uint64_t id) {
        kind = feeds_.kind_of(source, id);
        return kind == EventKind::Alloc;
      });
  if (!record) return;
  switch (record->kind) {
    case PerfRecordKind::Sample:
      if (kind) take_sample(source, *record, *kind);
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
  const auto take_one = [&](size_t source, std::string_view bytes) {
    take(source, bytes);
  };
  feeds_.drain(PerfFeeds::Which::Urgent, take_one);
  account_->look_at_modules();
  feeds_.drain(PerfFeeds::Which::Others, take_one);
}

void PerfTrace::drain() {
  const uint64_t now_ns = base::monotonic_ns();
  drain_rings();
  account_->settle(now_ns - EventAccount::kLatestNs);
}

void PerfTrace::silence() {
  feeds_.disable();
  drain_rings();
  account_->count_lost(std::max(lost_by_record_, feeds_.lost_events()));
}

void PerfTrace::freeze() {
  if (!std::exchange(is_on_, false)) return;
  silence();
  account_->end();
}

PageAccount* PerfTrace::hand_over(uint64_t time_ns) {
  if (!std::exchange(is_on_, false)) return nullptr;
  silence();
  feeds_ = PerfFeeds();
  return &account_->hand_over(time_ns);
}

base::Result<model::Trace> PerfTrace::read(const Roots&) {
  model::Trace trace = account_->read(model::TraceBackend::Perf);
  trace.kernel_bytes = feeds_.kernel_bytes();
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
