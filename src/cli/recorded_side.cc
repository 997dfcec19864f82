#include "cli/recorded_side.h"

#include <utility>

#include "analysis/process_use.h"
#include "base/clock.h"
#include "cli/moments.h"

namespace tidemark::cli {

base::Result<Side> recorded_side(const store::Recording& recording,
                                 const store::ProcessSet& chosen,
                                 const std::string& moment) {
  base::Result<size_t> index = find_moment_or_peak(recording, moment);
  if (!index) return index.error();
  const model::RecordedTick& tick = recording.ticks()[*index];
  base::Result<model::Sample> sample = recording.sample_at(tick.id, chosen);
  if (!sample) return sample.error();
  Side side;
  side.label = recording.path() + " at " + moment + ", " +
               base::rfc3339(tick.realtime_ns);
  side.composition = analysis::compose(*sample);
  for (const model::Process& process : sample->processes)
    side.names.insert(analysis::display_name(process));
  return side;
}

analysis::DiffReport compare_sides(Side before, Side after) {
  analysis::DiffReport report = analysis::make_diff_report(
      std::move(before.composition), std::move(after.composition));
  report.before_label = std::move(before.label);
  report.after_label = std::move(after.label);
  return report;
}

}  // namespace tidemark::cli
