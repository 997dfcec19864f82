// Follows page allocations of the running kernel. There are several means to do
// so; all of them tell the same, each as well as it can.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/trace.h"
#include "source/roots.h"

namespace tidemark::source {

class PageAccount;

// What is left out is never seen: it is left out in the kernel where the means
// allow it.
struct TraceFilter {
  std::optional<int32_t> tree_pid;  // and its descendants
  std::string comm;
  std::optional<uint64_t> cgroup_id;
  uint32_t least_order = 0;
  uint32_t most_order = 64;
  uint32_t wanted_gfp_bits = 0;
  uint32_t unwanted_gfp_bits = 0;
  std::string module;  // with code of it on the stack
};

struct TraceOptions {
  TraceFilter filter;
  uint64_t sample_period = 1;  // one page frame in so many; a power of two
  // Unwind every stack instead of knowing most again by their return addresses.
  bool unwinds_all = false;
  uint64_t ring_bytes = 4 << 20;  // for each CPU, where events come in rings
  // What others know from before is taken over (early_trace.h): by BPF from
  // events, by events from the kernel's own buffer (boot_ring.h).
  bool takes_over = false;
  // Through which code of programs, of a sample that is as dense as unwinding
  // is cheap; sample_period is then the densest it may be.
  bool with_user_stacks = false;
};

class LiveTrace {
 public:
  virtual ~LiveTrace() = default;

  // Counting begins.
  virtual void go() = 0;
  // Takes what has come in since the last time; called several times a second.
  virtual void drain() {}
  // Can be read when draining should not wait; -1: it can always.
  virtual int wake_fd() const { return -1; }
  // Nothing is counted from here on; numbers read later agree with each other.
  virtual void freeze() = 0;
  // Takes note of what each leaf holds, so that what only rises can be told.
  virtual void look() = 0;

  struct Height {
    uint64_t bytes = 0;
    uint64_t peak_bytes = 0;
  };
  virtual Height height() const = 0;

  // --- where one means goes on with what another has begun ---
  // Nothing is counted from here on; what was booked before `time_ns`
  // (monotonic), to be kept up to date by whoever goes on. Null: it cannot be.
  virtual PageAccount* hand_over([[maybe_unused]] uint64_t time_ns) {
    return nullptr;
  }
  // Goes on with what the account holds and this means has not seen given back.
  virtual void adopt([[maybe_unused]] const PageAccount& account) {}
  // Tells the account what has become of that.
  virtual void restate([[maybe_unused]] PageAccount& account) const {}

  // Also while it counts: then numbers that change meanwhile are some
  // microseconds apart.
  virtual base::Result<model::Trace> read(const Roots& roots) = 0;
};

using LiveTraceResult = base::Result<std::unique_ptr<LiveTrace>>;

// Counted in the kernel (bpf/trace.bpf.c): nothing of ours runs while it does,
// and nothing is lost. Denied without the rights, Unsupported where the kernel
// or this build lacks what it takes.
LiveTraceResult prepare_bpf_trace(const Roots& roots,
                                  const TraceOptions& options);

// Stacks of the processes of filter.tree_pid with those of their programs
// (bpf/user.bpf.c), unwound here while they come. Of the filter nothing else is
// heeded. Misused without a process.
LiveTraceResult prepare_user_trace(const Roots& roots,
                                   const TraceOptions& options);

// Every event comes through a ring of each CPU and is counted here. A ring runs
// over when we do not keep up; what is lost then is counted.
LiveTraceResult prepare_perf_trace(const Roots& roots,
                                   const TraceOptions& options);

// The same through a trace buffer of our own, which is removed on every way
// out, also when we are killed.
LiveTraceResult prepare_ftrace_trace(const Roots& roots,
                                     const TraceOptions& options);

}  // namespace tidemark::source
