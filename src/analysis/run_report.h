// The report of `run`: how high a command's memory rose, what it was made of
// there, and who lived. Heights, parts and residues add up to the last byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/process_use.h"
#include "analysis/trace_functions.h"
#include "model/category.h"
#include "model/run.h"
#include "model/trace.h"

namespace tidemark::analysis {

enum class RunMeasure {
  Charge,  // what the group is charged: PSS, cache and kernel memory
  Pss,     // of the processes alone
  Rss,     // the same, or its sum
};

// A row of the composition. Signed, because pages that other groups are charged
// for are mapped here all the same and must be taken off.
struct RunPart {
  model::Category category = model::Category::Unnamed;
  std::string label;
  int64_t bytes = 0;
  std::string mostly;  // who or what, the largest first
  bool operator==(const RunPart&) const = default;
};

// One object or kind of region, over all processes.
struct RunMapping {
  std::string name;
  model::Category category = model::Category::Anon;
  uint64_t bytes = 0;  // PSS, or RSS where the height is one
  uint64_t rss_bytes = 0;
  uint64_t process_count = 0;
  bool operator==(const RunMapping&) const = default;
};

struct RunProcess {
  model::ProcessLife life;
  std::string name;
  std::optional<uint64_t> at_peak_bytes;  // when the picture shows it
};

// All processes of one name.
struct RunName {
  std::string name;
  uint64_t count = 0;
  uint64_t at_peak_count = 0;
  uint64_t at_peak_bytes = 0;
  uint64_t peak_rss_bytes = 0;  // of the largest
  uint64_t shortest_ns = 0;
  uint64_t longest_ns = 0;
};

// A line of the drawing of who held what.
struct RunTreeRow {
  std::string name;
  uint64_t count = 1;  // siblings of one name without children, in one line
  uint64_t bytes = 0;
  int32_t pid = 0;  // of the first
  uint32_t depth = 0;
  std::vector<bool> has_more;  // for each level: does a sibling follow
};

struct RunReport {
  std::string command;
  uint64_t realtime_ns = 0;
  uint64_t start_ns = 0;  // monotonic; times of lives count from it
  uint64_t duration_ns = 0;
  int exit_status = 0;  // 128 + N for a signal
  int signal_number = 0;
  model::RunMethod method = model::RunMethod::Sampled;
  std::vector<std::string> notes;

  // The headline: the charge of the group, or the sum of RSS without one.
  model::Maximum peak;
  RunMeasure peak_measure = RunMeasure::Rss;
  bool peak_is_charge = false;  // or would be, had nobody left the group
  // Processes that the group is not charged for: the peak is a lower bound, and
  // no picture can be compared with it.
  uint64_t left_group_count = 0;
  std::optional<int64_t> peak_at_ns;  // since the start
  std::optional<model::Maximum> rss;
  std::optional<model::Maximum> pss;
  std::optional<model::Maximum> swap;
  std::optional<model::Maximum> hugetlb;

  // The picture.
  bool has_capture = false;
  uint64_t captured_bytes = 0;
  std::optional<double> coverage;           // 0 … 1
  std::optional<int64_t> capture_after_ns;  // the peak; negative: before it
  int64_t captured_at_ns = 0;               // since the start
  bool was_frozen = false;
  bool was_stopped = false;
  std::vector<RunPart> parts;  // largest first
  int64_t not_explained_bytes = 0;
  uint64_t not_caught_bytes = 0;  // what the peak rose above the picture
  std::vector<RunMapping> mappings;
  std::vector<RunTreeRow> tree;
  uint64_t unreadable_count = 0;  // members the picture could not read
  uint64_t rescanned_count = 0;   // shown by a page scan

  std::vector<RunProcess> processes;  // by start
  std::vector<RunName> names;         // by what they held, then by peak
  uint64_t process_count = 0;
  uint64_t unlisted_count = 0;
  uint64_t lost_count = 0;
  bool lists_every_process = false;
  uint64_t peak_error_bytes = 0;
  uint64_t left_running_count = 0;
  uint64_t command_max_rss_bytes = 0;

  std::vector<model::HeightPoint> history;  // time since the start
  model::WatchCost cost;

  // Through which code of programs it came; null: nobody asked. It outlives the
  // report.
  const model::Trace* trace = nullptr;
  std::vector<TraceFunction> functions;  // at the trace's peak
};

RunReport make_run_report(const model::RunRecord& record);
// With the stacks of programs that were followed meanwhile.
void add_stacks(const model::Trace& trace, RunReport& report);

// "1 process (spike) left its cgroup", or began outside of it.
std::string left_group_text(const RunReport& report);

// What a shell would make of wait()'s word: 128 + N when signal N ended it.
int exit_status_of(int32_t wait_status);

// How people would call it, by what it executed last and what it calls itself.
std::string life_name(const model::ProcessLife& life);

}  // namespace tidemark::analysis
