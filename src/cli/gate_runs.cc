#include "cli/gate_runs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/run_report.h"
#include "base/escape.h"
#include "base/units.h"
#include "cli/moments.h"
#include "cli/output.h"
#include "cli/recorded_peak.h"
#include "watch/run_watch.h"

namespace tidemark::cli {
namespace {

using model::GateMetric;
using model::GateRun;

// What a run that told no such peak says instead.
std::string untold(GateMetric metric) {
  if (metric == GateMetric::Charged) {
    return "no control group of its own could be made; --metric rss needs none";
  }
  if (metric == GateMetric::Pss) {
    return "it ended before its shares were read once; try --metric charged";
  }
  return "no means here tells it";
}

void take_peak(const analysis::RunReport& report, GateMetric metric,
               GateRun& run) {
  const auto take = [&](const std::optional<model::Maximum>& maximum) {
    if (!maximum) {
      run.bytes = model::unknown<uint64_t>(untold(metric));
      return;
    }
    run.bytes = model::known(maximum->bytes);
    run.source = maximum->source;
  };
  switch (metric) {
    case GateMetric::Charged:
      if (report.left_group_count > 0) {
        run.bytes = model::unknown<uint64_t>(
            base::visible(analysis::left_group_text(report)) +
            ": its peak is at least " + base::long_size(report.peak.bytes) +
            "; try --metric rss");
        return;
      }
      return take(report.peak_is_charge ? std::optional(report.peak)
                                        : std::nullopt);
    case GateMetric::Rss:
      return take(report.rss);
    case GateMetric::Pss:
      return take(report.pss);
    case GateMetric::Largest:
      run.bytes = model::known(report.command_max_rss_bytes);
      run.source = "wait4, of those the command waited for";
  }
}

std::string ending_words(const analysis::RunReport& report) {
  if (report.signal_number != 0) {
    return "it was ended by signal " + std::to_string(report.signal_number);
  }
  return "it ended with exit status " + std::to_string(report.exit_status);
}

watch::RunOptions watch_options(const GateRunOptions& options) {
  watch::RunOptions run;
  run.command.arguments = options.command;
  run.command.output_to_error = true;
  run.command.ignores_broken_pipe = were_broken_pipes_ignored();
  return run;
}

void take_recorded(const store::Recording& recording, GateMetric metric,
                   const model::TimelinePoint& point, GateRun& run) {
  if (metric == GateMetric::Rss) {
    run.bytes = model::known(point.rss_bytes);
    run.source = "the highest RSS recorded";
    return;
  }
  const uint32_t unread = point.undetailed_count + point.scanned_count;
  if (unread > 0) {
    run.bytes = model::unknown<uint64_t>(
        base::counted(unread, "process was", "processes were") +
        " not read in full at the peak; try --metric rss");
    return;
  }
  if (point.estimated_bytes > 0) {
    run.bytes = model::unknown<uint64_t>(
        base::long_size(point.estimated_bytes) +
        " of the peak is an estimate: not all was read in full at that "
        "moment; try --metric rss");
    return;
  }
  run.bytes = model::known(point.pss_bytes);
  run.source = "the highest PSS recorded, every " +
               base::long_duration(recording.info().period_ns);
}

base::Status take_largest(const store::Recording& recording, GateRun& run) {
  base::Result<std::vector<model::ProcessMaxima>> maxima = recording.maxima();
  if (!maxima) return maxima.error();
  std::optional<uint64_t> largest;
  for (const model::ProcessMaxima& one : *maxima) {
    const uint64_t bytes = std::max(one.high_mark_bytes.value_or(0),
                                    one.resident_bytes.value_or(0));
    largest = std::max(largest.value_or(0), bytes);
  }
  run.source = "VmHWM";
  run.bytes = largest ? model::known(*largest)
                      : model::unknown<uint64_t>("no process was read");
  return base::Ok{};
}

// A mark below what was sampled is not in the report of the peak.
void take_mark(const analysis::PeakReport& report, GateRun& run) {
  for (const analysis::PeakMark& mark : report.marks) {
    if (!mark.is_group || mark.is_older) continue;
    run.bytes = model::known(mark.bytes);
    run.source = mark.label;
    return;
  }
  run.bytes = model::unknown<uint64_t>(
      "the recording has no control group of its own; try --metric pss");
}

base::Result<GateRun> recorded_run(const std::string& path, GateMetric metric) {
  base::Result<store::Recording> recording = open_recording(path);
  if (!recording) return recording.error();
  GateRun run;
  run.label = path;
  run.duration_ns = recording->ticks().back().monotonic_ns -
                    recording->ticks().front().monotonic_ns;
  if (metric == GateMetric::Largest) {
    base::Status status = take_largest(*recording, run);
    if (!status) return status.error();
    return run;
  }
  RecordedPeakOptions options;
  options.metric = metric == GateMetric::Rss ? analysis::PeakMetric::Rss
                                             : analysis::PeakMetric::Pss;
  options.with_trends = false;
  RecordedPeak peak(*recording, {});
  base::Result<analysis::PeakReport> report = peak.report(options);
  if (!report) return report.error();
  if (metric == GateMetric::Charged) {
    take_mark(*report, run);
  } else {
    take_recorded(*recording, metric, report->point, run);
  }
  return run;
}

}  // namespace

base::Result<std::vector<GateRun>> run_repeatedly(
    const source::Roots& roots, const GateRunOptions& options) {
  std::vector<GateRun> runs;
  for (uint64_t i = 1; i <= options.count; ++i) {
    const watch::RunOutcome outcome =
        watch::watch_command(roots, watch_options(options));
    if (outcome.failure) return outcome.failure->error;
    const analysis::RunReport report =
        analysis::make_run_report(outcome.record);
    GateRun run;
    run.label = "run " + std::to_string(i);
    run.duration_ns = report.duration_ns;
    if (report.exit_status != 0) {
      run.bytes = model::unknown<uint64_t>(ending_words(report));
    } else {
      take_peak(report, options.metric, run);
    }
    print_note(options.common, run.label + " of " +
                                   std::to_string(options.count) + ": " +
                                   (run.bytes ? base::long_size(*run.bytes)
                                              : run.bytes.unknown_because));
    runs.push_back(std::move(run));
    if (!runs.back().bytes) break;
  }
  return runs;
}

base::Result<std::vector<GateRun>> recorded_runs(
    const std::vector<std::string>& paths, GateMetric metric) {
  std::vector<GateRun> runs;
  for (const std::string& path : paths) {
    base::Result<GateRun> run = recorded_run(path, metric);
    if (!run) return run.error();
    runs.push_back(std::move(*run));
  }
  return runs;
}

}  // namespace tidemark::cli
