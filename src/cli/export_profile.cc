#include "cli/export_profile.h"

#include <fmt/format.h>

#include "analysis/composition.h"
#include "cli/moments.h"
#include "cli/output.h"
#include "cli/trace_recording.h"
#include "view/profile/memory_profile.h"
#include "view/profile/trace_profile.h"
#include "view/text/folded.h"

namespace tidemark::cli {
namespace {

const std::string& word_of(const ProfileExport& wanted) {
  static const std::string kPeak = "peak";
  return wanted.at.empty() ? kPeak : wanted.at;
}

// Of allocations; their peak is the one that the kernel's counters kept, not a
// tick's.
base::Result<std::string> trace_profile(const store::Recording& recording,
                                        const ProfileExport& wanted) {
  const bool at_peak = word_of(wanted) == "peak";
  base::Result<size_t> index =
      find_moment(recording, at_peak ? "end" : word_of(wanted));
  if (!index) return index.error();
  base::Result<model::Trace> trace = recorded_trace(recording, *index);
  if (!trace) return trace.error();
  const view::TraceProfileOptions options = {at_peak};
  switch (wanted.format) {
    case ProfileFormat::Folded:
      return view::trace_folded(*trace, options);
    case ProfileFormat::Pprof:
      return view::trace_pprof(*trace, options);
    case ProfileFormat::Speedscope:
      break;
  }
  return view::trace_speedscope(*trace, options);
}

void tell_missing(const CommonOptions& common, const model::Sample& sample) {
  const analysis::Composition sum = analysis::compose(sample);
  if (sum.undetailed_count == 0) return;
  print_note(common, fmt::format("{} of {} processes are not in it: their "
                                 "mappings were not read",
                                 sum.undetailed_count, sum.processes.size()));
}

}  // namespace

base::Result<std::string> export_profile(const store::Recording& recording,
                                         const ProfileExport& wanted) {
  if (recording.processes().empty()) return trace_profile(recording, wanted);
  base::Result<size_t> moment = find_moment_or_peak(recording, word_of(wanted));
  if (!moment) return moment.error();
  const model::RecordedTick& moment_tick = recording.ticks()[*moment];
  base::Result<model::Sample> inuse =
      recording.sample_at(moment_tick.id, wanted.processes);
  if (!inuse) return inuse.error();
  tell_missing(wanted.common, *inuse);
  if (wanted.format == ProfileFormat::Folded) {
    return view::folded_stacks(*inuse);
  }
  base::Result<size_t> peak = find_moment_or_peak(recording, "peak");
  if (!peak) return peak.error();
  const model::RecordedTick& peak_tick = recording.ticks()[*peak];
  base::Result<model::Sample> highest =
      recording.sample_at(peak_tick.id, wanted.processes);
  if (!highest) return highest.error();
  const view::MemoryProfile profile = {
      &*inuse, &*highest, moment_tick.realtime_ns, peak_tick.realtime_ns};
  return wanted.format == ProfileFormat::Pprof
             ? view::memory_pprof(profile)
             : view::memory_speedscope(profile);
}

}  // namespace tidemark::cli
