// What changed between two moments, of one recording, of two, or of a recording
// and now. Objects are matched by what they are and not by where they lie, and
// processes by name, so that two runs of a program can be compared. Each of the
// lists adds up to the whole change; programs whose sharing was not read hold
// some memory more than once, which is told beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/composition.h"

namespace tidemark::analysis {

struct DiffRow {
  model::Category category = model::Category::Anon;
  std::string name;
  Bytes before;
  Bytes after;
  uint64_t before_count = 0;  // mappings, or processes of that name
  uint64_t after_count = 0;

  int64_t change() const {
    return static_cast<int64_t>(after.pss) - static_cast<int64_t>(before.pss);
  }
};

// The recording that a side is a moment of; there is none of what runs now.
struct DiffCourse {
  uint64_t span_ns = 0;
  uint64_t moment_ns = 0;             // since its start
  std::vector<uint64_t> shape_bytes;  // the highest in as many stretches
};

struct DiffReport {
  std::string before_label;
  std::string after_label;
  std::optional<DiffCourse> before_course;
  std::optional<DiffCourse> after_course;
  Composition before;
  Composition after;
  // Programs of which the shares were not read on a side: those are compared by
  // their resident memory on both.
  std::set<std::string> by_counters;
  bool is_unsplit_before = false;  // of them some, as they were recorded
  bool is_unsplit_after = false;
  // Largest change first, either way.
  std::vector<DiffRow> categories;
  std::vector<DiffRow> parts;
  std::vector<DiffRow> processes;
  std::vector<DiffRow> holdings;  // kinds of processes
  // What the processes of each side hold beyond its total.
  uint64_t before_again_bytes = 0;
  uint64_t after_again_bytes = 0;

  int64_t change() const {
    return static_cast<int64_t>(after.total.pss) -
           static_cast<int64_t>(before.total.pss);
  }
};

DiffReport make_diff_report(Composition before, Composition after);
// The same of what was read: each process by the same means on both sides.
DiffReport compare_samples(const model::Sample& before,
                           const model::Sample& after);

}  // namespace tidemark::analysis
