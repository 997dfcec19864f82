// One side of a comparison: what a recording was made of at a moment. What
// `diff` and `report --base` share.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "analysis/diff_report.h"
#include "base/result.h"
#include "model/sample.h"
#include "store/recording.h"

namespace tidemark::cli {

struct Side {
  std::string label;
  model::Sample sample;
  std::optional<analysis::DiffCourse> course;
  std::set<std::string> names;  // of its processes
};

// At a moment as find_moment_or_peak() takes it. The course costs a reading of
// all ticks: text does not show it.
enum class SideCourse { LeftOut, Told };
base::Result<Side> recorded_side(const store::Recording& recording,
                                 const store::ProcessSet& chosen,
                                 const std::string& moment, SideCourse course);

analysis::DiffReport compare_sides(Side before, Side after);

}  // namespace tidemark::cli
