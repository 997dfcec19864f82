// Which code of the kernel took pages, for whom, and what of them is still
// held: the outcome of following page allocations for a while, or of the notes
// that the kernel itself keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/reading.h"
#include "model/slab_trace.h"
#include "model/trace_frame.h"
#include "model/trace_modules.h"
#include "model/trace_user.h"

namespace tidemark::model {

enum class TraceBackend : uint8_t {
  Bpf,        // counted in the kernel as it happens
  Perf,       // events through rings, counted here
  Ftrace,     // the same through a trace instance of our own
  PageOwner,  // the kernel's notes on each page
};
std::string_view trace_backend_token(TraceBackend backend);  // "bpf"
std::optional<TraceBackend> trace_backend_from_token(std::string_view token);

// Indices into the frames, the allocator's caller first, the way in last.
using TraceStack = std::vector<uint32_t>;

// A thread group in one control group.
struct TraceTask {
  int32_t pid = 0;
  uint64_t start_ns = 0;     // since boot; 0: not known
  std::string name;          // comm
  std::string command_line;  // printable, arguments separated by spaces
  std::string cgroup;        // path; empty: not known
  bool is_kernel_thread = false;
  bool is_interrupt = false;  // stands for all of them, whomever they hit
  bool has_exited = false;
  // Not 0: stands for so many that have ended, whose entries were needed for
  // others; peaks are sums of those that each leaf had at its own time then.
  uint64_t folded_count = 0;
  uint64_t pages = 0;
  uint64_t peak_pages = 0;  // of the task's own sum, at its own time
  // Its peak, and those of its leaves, were at most that: each is the sum of
  // the peaks of two traces that followed each other.
  bool is_peak_bound = false;
  bool operator==(const TraceTask&) const = default;
};

// What one task holds through one stack.
struct TraceLeaf {
  uint32_t stack = 0;  // index into the stacks
  uint32_t task = 0;   // index into the tasks
  uint64_t pages = 0;
  uint64_t peak_pages = 0;          // of this leaf, at its own time
  uint64_t machine_peak_pages = 0;  // at the time of the machine's peak
  uint64_t allocation_count = 0;
  // How long it has held any page without a break; 0: not known.
  uint64_t held_ns = 0;
  // The fewest pages it held in each of successive stretches of the trace, the
  // last of which ended with it; empty: not known.
  std::vector<uint64_t> lows;
  bool operator==(const TraceLeaf&) const = default;
};

// Every way in which the numbers can be wrong, in pages unless said otherwise.
struct TraceFaults {
  uint64_t lost_events = 0;           // rings that ran over
  uint64_t missed_events = 0;         // on top of one of our own programs
  uint64_t untracked_freed = 0;       // given back, never seen taken
  uint64_t overwritten = 0;           // taken again, never seen given back
  uint64_t out_of_range = 0;          // frames that no table has
  uint64_t table_full = 0;            // taken when no entry was left for them
  uint64_t unmatched_migrations = 0;  // moved, whereto is not known
  // Stacks that were known again, unwound to see whether rightly so; and those
  // that were not. One in a thousand is.
  uint64_t verified_stacks = 0;
  uint64_t wrong_stacks = 0;
  // Whether any number can be wrong for them. Not for what is given back and
  // was taken before the trace, of which there is always some.
  bool change_numbers() const {
    return lost_events != 0 || missed_events != 0 || overwritten != 0 ||
           out_of_range != 0 || table_full != 0 || unmatched_migrations != 0 ||
           wrong_stacks != 0;
  }
  bool operator==(const TraceFaults&) const = default;
};

struct Trace {
  TraceBackend backend = TraceBackend::Bpf;
  uint64_t started_realtime_ns = 0;
  uint64_t elapsed_ns = 0;
  uint64_t page_size_bytes = 4096;
  // One page frame in so many was followed; the numbers are multiplied by it.
  uint64_t sample_period = 1;
  uint64_t kernel_bytes = 0;  // what the tables for it take there
  bool has_peaks = true;      // false where the past is not known
  // Whether pages of the bulk allocator were seen when they were taken; else
  // they are among TraceFaults::untracked_freed once they are given back.
  bool sees_bulk = false;

  std::vector<TraceFrame> frames;
  std::vector<TraceStack> stacks;
  std::vector<TraceTask> tasks;
  std::vector<TraceLeaf> leaves;
  uint64_t pages = 0;       // of all leaves together
  uint64_t peak_pages = 0;  // the same at the highest
  uint64_t peak_realtime_ns = 0;
  // Held already when the trace began, and known from the kernel's own buffer.
  uint64_t folded_pages = 0;
  uint64_t low_stretch_ns = 0;  // how long each stretch of TraceLeaf::lows is
  TraceFaults faults;
  std::vector<TraceModule> modules;  // of which the kernel told
  // Empty: nobody asked for it.
  std::optional<TraceBefore> before;
  std::optional<Reading<SlabTrace>> slab;
  // Empty: stacks are the kernel's alone. Else below those of programs.
  std::optional<TraceUser> user;
  // Every page was followed, and nothing is known that makes a number wrong.
  bool is_exact() const {
    return sample_period == 1 && !faults.change_numbers();
  }
  std::vector<std::string> notes;  // what this kernel could not be asked
};

}  // namespace tidemark::model
