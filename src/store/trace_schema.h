// The section of a recording for traces of page allocations. It is made with
// the first trace, so that recordings without one do not carry it.
//
// What never changes of a trace stands in `recording` under names that begin
// with trace_; names a reader does not know are skipped, so that later ones can
// say more. Faults are rows with a name for the same reason.
#pragma once

#include "base/result.h"
#include "model/trace.h"
#include "store/database.h"

namespace tidemark::store {

base::Status create_trace_section(Database& database);

// Whether there is one; Malformed where only a part of it is there.
base::Result<bool> has_trace_section(Database& database);

// What came later to the section: slab objects and what there was before. Files
// from before that lack it. Malformed where only a part of it is there.
base::Result<bool> has_trace_additions(Database& database);
// Makes it where the section has none.
base::Status add_trace_additions(Database& database);

// A number of a trace under the name it is stored with.
struct TraceNumber {
  std::string_view name;
  uint64_t model::Trace::*target;
};
inline constexpr TraceNumber kTraceNumbers[] = {
    {"trace_started_utc_ns", &model::Trace::started_realtime_ns},
    {"trace_page_size_bytes", &model::Trace::page_size_bytes},
    {"trace_sample_period", &model::Trace::sample_period},
    {"trace_kernel_bytes", &model::Trace::kernel_bytes},
};
inline constexpr std::string_view kTraceBackendName = "trace_backend";

struct TraceSwitch {
  std::string_view name;
  bool model::Trace::*target;
};
inline constexpr TraceSwitch kTraceSwitches[] = {
    {"trace_has_peaks", &model::Trace::has_peaks},
    {"trace_sees_bulk", &model::Trace::sees_bulk},
};
// How many tasks the one stands for that is folded.
inline constexpr std::string_view kTraceFoldedName = "trace_folded_tasks";

struct TraceFaultName {
  std::string_view name;
  uint64_t model::TraceFaults::*target;
};
inline constexpr TraceFaultName kTraceFaultNames[] = {
    {"lost_events", &model::TraceFaults::lost_events},
    {"missed_events", &model::TraceFaults::missed_events},
    {"untracked_freed_pages", &model::TraceFaults::untracked_freed},
    {"overwritten_pages", &model::TraceFaults::overwritten},
    {"out_of_range_pages", &model::TraceFaults::out_of_range},
    {"table_full_pages", &model::TraceFaults::table_full},
    {"unmatched_migration_pages", &model::TraceFaults::unmatched_migrations},
    {"verified_stacks", &model::TraceFaults::verified_stacks},
    {"wrong_stacks", &model::TraceFaults::wrong_stacks},
};

// Sums over all slab objects that are followed, by tick.
struct SlabNumber {
  std::string_view name;
  uint64_t model::SlabTrace::*target;
};
inline constexpr SlabNumber kSlabNumbers[] = {
    {"bytes", &model::SlabTrace::bytes},
    {"peak_bytes", &model::SlabTrace::peak_bytes},
    {"kernel_bytes", &model::SlabTrace::kernel_bytes},
    {"missed_events", &model::SlabTrace::missed_events},
    {"untracked_freed_objects", &model::SlabTrace::untracked_freed},
    {"overwritten_objects", &model::SlabTrace::overwritten},
    {"table_full_objects", &model::SlabTrace::table_full},
};
// In `recording`: why they could not be followed; remarks, one in each line.
inline constexpr std::string_view kSlabUnknownName = "trace_slab_unknown";
inline constexpr std::string_view kSlabNotesName = "trace_slab_notes";

// What of the time before the trace a row of trace_before is about.
enum class BeforePart : uint8_t { Modules, Vmalloc, Slab, Code, Pages };

// What a task is, in one number.
inline constexpr int kTraceTaskIsKernelThread = 1;
inline constexpr int kTraceTaskIsInterrupt = 2;
inline constexpr int kTraceTaskHasExited = 4;
inline constexpr int kTraceTaskIsFolded = 8;
inline constexpr int kTraceTaskPeakIsBound = 16;

// What became of a module.
inline constexpr int kTraceModuleWasLoaded = 1;
inline constexpr int kTraceModuleWasUnloaded = 2;

}  // namespace tidemark::store
