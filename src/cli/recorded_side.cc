#include "cli/recorded_side.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/columns.h"
#include "analysis/peak_report.h"
#include "analysis/process_use.h"
#include "base/clock.h"
#include "cli/moments.h"

namespace tidemark::cli {
namespace {

base::Result<analysis::DiffCourse> course_of(const store::Recording& recording,
                                             const store::ProcessSet& chosen,
                                             size_t moment) {
  constexpr size_t kColumns = 120;
  base::Result<model::Timeline> timeline = recording.timeline(chosen);
  if (!timeline) return timeline.error();
  const std::vector<model::RecordedTick>& ticks = recording.ticks();
  std::vector<model::HeightPoint> points;
  for (size_t i = 0; i < ticks.size(); ++i) {
    const uint64_t now = ticks[i].monotonic_ns;
    points.push_back({now - std::min(now, ticks[0].monotonic_ns),
                      timeline->points[i].pss_bytes});
  }
  analysis::DiffCourse course;
  course.span_ns = points.back().time_ns;
  course.moment_ns = points[moment].time_ns;
  course.shape_bytes =
      analysis::highest_in_columns(points, course.span_ns, kColumns);
  return course;
}

}  // namespace

base::Result<Side> recorded_side(const store::Recording& recording,
                                 const store::ProcessSet& chosen,
                                 const std::string& moment, SideCourse course) {
  base::Result<size_t> index = find_moment_or_peak(recording, moment);
  if (!index) return index.error();
  const model::RecordedTick& tick = recording.ticks()[*index];
  base::Result<model::Sample> sample = recording.sample_at(tick.id, chosen);
  if (!sample) return sample.error();
  Side side;
  side.label = recording.path() + " at " + moment + ", " +
               base::rfc3339(tick.realtime_ns);
  for (const model::Process& process : sample->processes)
    side.names.insert(analysis::display_name(process));
  side.sample = std::move(*sample);
  if (course == SideCourse::LeftOut) return side;
  base::Result<analysis::DiffCourse> told =
      course_of(recording, chosen, *index);
  if (!told) return told.error();
  side.course = std::move(*told);
  return side;
}

analysis::DiffReport compare_sides(Side before, Side after) {
  analysis::DiffReport report =
      analysis::compare_samples(before.sample, after.sample);
  report.before_label = std::move(before.label);
  report.after_label = std::move(after.label);
  report.before_course = std::move(before.course);
  report.after_course = std::move(after.course);
  return report;
}

}  // namespace tidemark::cli
