#include "analysis/run_report.h"

#include <sys/wait.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/run_parts.h"
#include "analysis/run_tree.h"
#include "base/text.h"
#include "base/units.h"

namespace tidemark::analysis {
namespace {

using model::ProcessLife;
using model::RunRecord;

std::string command_line(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += word;
  }
  return text;
}

void set_ending(const RunRecord& record, RunReport& report) {
  if (WIFSIGNALED(record.wait_status)) {
    report.signal_number = WTERMSIG(record.wait_status);
  }
  report.exit_status = exit_status_of(record.wait_status);
}

int64_t since(uint64_t start_ns, uint64_t time_ns) {
  return static_cast<int64_t>(time_ns) - static_cast<int64_t>(start_ns);
}

// All that was there at one moment, or one process at its highest: either was
// surely resident, and what was shared counts once.
void raise_by_those_who_left(const RunRecord& record, RunReport& report) {
  uint64_t largest_bytes = 0;
  for (const ProcessLife& life : record.lives) {
    if (!life.left_group) continue;
    ++report.left_group_count;
    largest_bytes = std::max(largest_bytes, life.peak_rss_bytes.value_or(0));
  }
  if (report.left_group_count == 0) return;
  if (record.pss && record.pss->bytes > report.peak.bytes) {
    report.peak = *record.pss;
    report.peak.source = "PSS of all processes, highest of the captures";
    report.peak_measure = RunMeasure::Pss;
  }
  if (largest_bytes > report.peak.bytes) {
    report.peak = {largest_bytes, std::nullopt,
                   "RSS of the largest process outside its cgroup"};
    report.peak_measure = RunMeasure::Rss;
  }
}

RunMeasure measure_of_parts(const RunReport& report) {
  if (!report.peak_is_charge) return RunMeasure::Rss;
  return report.left_group_count > 0 ? RunMeasure::Pss : RunMeasure::Charge;
}

void set_peaks(const RunRecord& record, RunReport& report) {
  report.peak_is_charge = record.charge.has_value();
  if (record.charge) {
    report.peak = *record.charge;
    report.peak_measure = RunMeasure::Charge;
    raise_by_those_who_left(record, report);
  } else if (record.rss) {
    report.peak = *record.rss;
  }
  if (report.peak.time_ns && report.peak.bytes > 0) {
    report.peak_at_ns = since(record.started_ns, *report.peak.time_ns);
  }
  report.rss = record.rss;
  report.pss = record.pss;
  report.swap = record.swap;
  report.hugetlb = record.hugetlb;
}

void set_capture(const RunRecord& record, RunReport& report) {
  if (!record.capture) {
    report.not_caught_bytes = report.peak.bytes;
    if (report.peak.bytes > 0 && report.left_group_count == 0) {
      report.coverage = 0.0;
    }
    return;
  }
  const model::Capture& capture = *record.capture;
  report.has_capture = true;
  report.was_frozen = capture.was_frozen;
  report.was_stopped = capture.was_stopped;
  report.rescanned_count = capture.rescanned_count;
  const uint64_t taken = capture.sample.started_monotonic_ns;
  report.captured_at_ns = since(record.started_ns, taken);
  if (report.peak.time_ns) {
    report.capture_after_ns = since(*report.peak.time_ns, taken);
  }
  RunComposition made =
      compose(capture, record.memory_devices, measure_of_parts(report));
  report.captured_bytes = made.captured_bytes;
  report.parts = std::move(made.parts);
  report.mappings = std::move(made.mappings);
  report.not_explained_bytes = made.not_explained_bytes;
  report.unreadable_count = made.unreadable_count;
  if (report.peak.bytes > report.captured_bytes) {
    report.not_caught_bytes = report.peak.bytes - report.captured_bytes;
  }
  if (report.peak.bytes > 0 && report.left_group_count == 0) {
    report.coverage = std::min(1.0, static_cast<double>(report.captured_bytes) /
                                        static_cast<double>(report.peak.bytes));
  }
}

// What the picture shows of each pid.
std::map<int32_t, uint64_t> held_at_peak(const RunRecord& record, bool in_pss) {
  std::map<int32_t, uint64_t> held;
  if (!record.capture) return held;
  for (const model::Process& process : record.capture->sample.processes) {
    if (!process.rollup) continue;
    held[process.id.pid] = process.rollup->get_or_zero(
        in_pss ? model::SmapsField::Pss : model::SmapsField::Rss);
  }
  return held;
}

void set_processes(const RunRecord& record, RunReport& report) {
  const std::map<int32_t, uint64_t> held =
      held_at_peak(record, report.peak_is_charge);
  const uint64_t taken =
      record.capture ? record.capture->sample.started_monotonic_ns : 0;
  for (const ProcessLife& life : record.lives) {
    RunProcess process{life, life_name(life), std::nullopt};
    // The root is forked and waits while we get ready; that is not its life.
    process.life.started_ns = std::max(life.started_ns, record.started_ns);
    auto at = held.find(life.pid);
    // A pid can come twice in one run; the picture shows the one alive then.
    if (at != held.end() && life.started_ns <= taken &&
        life.ended_ns.value_or(UINT64_MAX) >= taken) {
      process.at_peak_bytes = at->second;
    }
    report.processes.push_back(std::move(process));
  }
  std::ranges::stable_sort(report.processes, {}, [](const RunProcess& process) {
    return process.life.started_ns;
  });
}

void add_to(RunName& row, const RunProcess& process, uint64_t end_ns) {
  // What the command left running may start others after its end.
  const uint64_t start_ns = process.life.started_ns;
  const uint64_t lived =
      std::max(process.life.ended_ns.value_or(end_ns), start_ns) - start_ns;
  row.shortest_ns = row.count == 0 ? lived : std::min(row.shortest_ns, lived);
  row.longest_ns = std::max(row.longest_ns, lived);
  row.peak_rss_bytes =
      std::max(row.peak_rss_bytes, process.life.peak_rss_bytes.value_or(0));
  ++row.count;
  if (process.at_peak_bytes) {
    ++row.at_peak_count;
    row.at_peak_bytes += *process.at_peak_bytes;
  }
}

void set_names(const RunRecord& record, RunReport& report) {
  std::map<std::string, RunName> by_name;
  for (const RunProcess& process : report.processes) {
    RunName& row = by_name[process.name];
    row.name = process.name;
    add_to(row, process, record.ended_ns);
  }
  for (auto& [name, row] : by_name)
    report.names.push_back(std::move(row));
  std::ranges::stable_sort(report.names, [](const auto& a, const auto& b) {
    return std::pair(a.at_peak_bytes, a.peak_rss_bytes) >
           std::pair(b.at_peak_bytes, b.peak_rss_bytes);
  });
}

void set_history(const RunRecord& record, RunReport& report) {
  for (const model::HeightPoint& point : record.history) {
    const uint64_t at = point.time_ns > record.started_ns
                            ? point.time_ns - record.started_ns
                            : 0;
    report.history.push_back({at, point.bytes});
  }
}

}  // namespace

int exit_status_of(int32_t wait_status) {
  constexpr int kSignalBase = 128;
  return WIFSIGNALED(wait_status) ? kSignalBase + WTERMSIG(wait_status)
                                  : WEXITSTATUS(wait_status);
}

std::string life_name(const ProcessLife& life) {
  constexpr size_t kCommLength = 15;  // TASK_COMM_LEN - 1
  const std::string_view file = base::base_name(life.path);
  // comm is cut; the file it executed says the rest. One that was changed since
  // is the process's own wish.
  if (file.empty() || file.substr(0, kCommLength) != life.comm) {
    if (!life.comm.empty()) return life.comm;
    return file.empty() ? "?" : std::string(file);
  }
  return std::string(file);
}

std::string left_group_text(const RunReport& report) {
  const RunProcess* largest = nullptr;
  for (const RunProcess& process : report.processes) {
    if (!process.life.left_group) continue;
    if (largest == nullptr || process.life.peak_rss_bytes.value_or(0) >
                                  largest->life.peak_rss_bytes.value_or(0)) {
      largest = &process;
    }
  }
  std::string text =
      base::counted(report.left_group_count, "process", "processes");
  if (largest != nullptr) {
    text += report.left_group_count > 1 ? " (the largest: " : " (";
    text += largest->name + ")";
  }
  return text + " left the cgroup of the run";
}

RunReport make_run_report(const RunRecord& record) {
  RunReport report;
  report.command = command_line(record.command);
  report.realtime_ns = record.started_realtime_ns;
  report.start_ns = record.started_ns;
  report.duration_ns = record.ended_ns - record.started_ns;
  report.method = record.method;
  report.notes = record.method_notes;
  set_ending(record, report);
  set_peaks(record, report);
  set_capture(record, report);
  set_processes(record, report);
  set_names(record, report);
  set_history(record, report);
  if (report.left_group_count > 0) {
    report.notes.push_back(left_group_text(report) +
                           ", which does not count it: the peak is a lower "
                           "bound");
  }
  report.tree = draw_tree(report.processes);
  report.process_count = record.lives.size() + record.unlisted_count;
  report.unlisted_count = record.unlisted_count;
  report.lost_count = record.lost_count;
  report.lists_every_process = record.lists_every_process;
  report.peak_error_bytes = record.peak_error_bytes;
  report.left_running_count = record.left_running_count;
  report.command_max_rss_bytes = record.command_max_rss_bytes;
  report.cost = record.cost;
  return report;
}

void add_stacks(const model::Trace& trace, RunReport& report) {
  report.trace = &trace;
  report.functions = functions_at_peak(trace);
}

}  // namespace tidemark::analysis
