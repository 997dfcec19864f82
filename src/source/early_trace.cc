#include "source/early_trace.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/own_code.h"
#include "base/units.h"
#include "model/trace_join.h"
#include "source/machine_reader.h"
#include "source/page_account.h"

namespace tidemark::source {
namespace {

class EarlyTrace : public LiveTrace {
 public:
  EarlyTrace(std::unique_ptr<LiveTrace> early, const Roots& roots,
             const TraceOptions& options)
      : roots_(roots), options_(options), early_(std::move(early)) {}
  EarlyTrace(const EarlyTrace&) = delete;
  EarlyTrace& operator=(const EarlyTrace&) = delete;
  ~EarlyTrace() override {
    if (loader_.joinable()) loader_.join();
  }

  void go() override;
  void drain() override;
  int wake_fd() const override { return current().wake_fd(); }
  void freeze() override;
  void look() override { current().look(); }
  Height height() const override { return current().height(); }
  base::Result<model::Trace> read(const Roots& roots) override;

 private:
  LiveTrace& current() { return later_ ? *later_ : *early_; }
  const LiveTrace& current() const { return later_ ? *later_ : *early_; }
  void take_over();
  void fall_back(const std::string& why);

  const Roots& roots_;
  TraceOptions options_;
  std::unique_ptr<LiveTrace> early_;
  std::unique_ptr<LiveTrace> later_;  // from when it counts
  PageAccount* held_ = nullptr;       // of the early one
  uint64_t started_ns_ = 0;
  bool is_frozen_ = false;
  std::vector<std::string> notes_;
  // Of the thread until `is_loaded_`.
  std::optional<LiveTraceResult> loaded_;
  std::atomic<bool> is_loaded_ = false;
  std::thread loader_;  // last: it uses the above
};

void EarlyTrace::go() {
  early_->go();
  started_ns_ = base::monotonic_ns();
  loader_ = std::thread([this] {
    loaded_.emplace(prepare_bpf_trace(roots_, options_));
    // What libbpf took in this thread's arena is of no use to anybody.
    ::malloc_trim(0);
    is_loaded_ = true;
  });
}

void EarlyTrace::fall_back(const std::string& why) {
  notes_.push_back("not by bpf: " + why);
}

void EarlyTrace::take_over() {
  loader_.join();
  LiveTraceResult loaded = std::move(*loaded_);
  loaded_.reset();
  if (!loaded) return fall_back(loaded.error().what);
  later_ = std::move(*loaded);
  later_->go();
  // After it, so that what both have seen is told from what none has.
  const uint64_t time_ns = base::monotonic_ns();
  held_ = early_->hand_over(time_ns);
  if (held_ != nullptr) {
    later_->adopt(*held_);
    held_->forget_frames();
  }
  base::release_own_code();  // what loads is not needed again
  notes_.push_back(
      "the first " + base::clock_duration(time_ns - started_ns_) +
      " were followed by events, until bpf was loaded: of pages of the bulk "
      "allocator and of those that were moved nothing is known from then");
}

void EarlyTrace::drain() {
  current().drain();
  if (!later_ && loader_.joinable() && is_loaded_ && !is_frozen_) take_over();
}

void EarlyTrace::freeze() {
  is_frozen_ = true;
  current().freeze();
}

base::Result<model::Trace> EarlyTrace::read(const Roots& roots) {
  if (held_ != nullptr) later_->restate(*held_);
  base::Result<model::Trace> trace = early_->read(roots);
  if (!trace) return trace;
  if (later_) {
    base::Result<model::Trace> later = later_->read(roots);
    if (!later) return later;
    *trace = model::join_traces(*trace, *later);
  }
  trace->notes.insert(trace->notes.end(), notes_.begin(), notes_.end());
  return trace;
}

// Rings of all CPUs together take at most a 32nd of what is available: a crash
// kernel has little, and a machine of 200 CPUs would have rings of 800 MiB.
uint64_t ring_bytes_for(const Roots& roots, uint64_t wanted) {
  const base::Result<model::MemInfo> memory = read_meminfo(roots);
  if (!memory || !memory->available_bytes) return wanted;
  constexpr uint64_t kParts = 32;
  constexpr uint64_t kLeast = 256 << 10;
  const auto cpus =
      static_cast<uint64_t>(std::max(::sysconf(_SC_NPROCESSORS_CONF), 1L));
  const uint64_t share = *memory->available_bytes / kParts / cpus;
  return std::clamp(std::bit_floor(share), std::min(kLeast, wanted), wanted);
}

}  // namespace

LiveTraceResult prepare_early_trace(const Roots& roots,
                                    const TraceOptions& options) {
  if (options.sample_period != 1) {
    return base::fail(base::ErrorKind::Misused,
                      "an early start follows every page",
                      "leave out --sample or --early");
  }
  TraceOptions taking = options;
  taking.takes_over = true;
  taking.ring_bytes = ring_bytes_for(roots, options.ring_bytes);
  LiveTraceResult early = prepare_perf_trace(roots, taking);
  if (!early) early = prepare_ftrace_trace(roots, taking);
  if (!early) return early.error();
  return LiveTraceResult(
      std::make_unique<EarlyTrace>(std::move(*early), roots, taking));
}

}  // namespace tidemark::source
