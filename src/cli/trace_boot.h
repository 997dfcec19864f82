// What `trace` has for a boot: an early start, a file that says it is ready,
// and a report that is there whatever happens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/crash_kernel.h"
#include "base/result.h"
#include "cli/command.h"
#include "source/roots.h"
#include "watch/trace_watch.h"

namespace tidemark::cli {

struct TraceBootOptions {
  std::string ready_path;          // empty: nobody waits for it
  bool refreshes = false;          // the file of -o while it traces
  bool refreshes_unasked = false;  // where that file allows it
  std::optional<analysis::MemoryMoment> at_start;
  uint64_t seen_bytes = 0;  // the most that others than we held at a reading
};

// Empty where it cannot be told.
std::optional<analysis::MemoryMoment> read_memory_moment(
    const source::Roots& roots);
model::Reading<analysis::CrashKernel> advise_crash_kernel(
    const TraceBootOptions& options, const model::Trace& trace);
// Takes note of it.
void see_others(const model::Trace& trace, TraceBootOptions& options);

void add_trace_boot_options(OptionTable& table, TraceBootOptions& options,
                            watch::TraceWatchOptions& watch);

// Whether the file of -o is kept up to date. Misused where that was asked for
// and there is no file it could be done with.
base::Status arrange_trace_boot(const CommonOptions& common,
                                TraceBootOptions& options);

// From here on everything is seen. Whoever waits for the file and does not get
// it goes on without us, so that is said and no reason to end.
void say_ready(const TraceBootOptions& options, const CommonOptions& common);

// In one piece and on the disk: a reset in the middle of it leaves the last
// one.
base::Status keep_report(const CommonOptions& common, std::string_view report);

}  // namespace tidemark::cli
