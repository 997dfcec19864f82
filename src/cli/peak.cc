#include <memory>
#include <optional>
#include <utility>

#include "analysis/diff_report.h"
#include "analysis/peak_report.h"
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/moments.h"
#include "cli/output.h"
#include "cli/recorded_peak.h"
#include "view/json/diff.h"
#include "view/json/peak.h"
#include "view/text/diff.h"
#include "view/text/peak.h"
#include "view/text/watcher.h"

namespace tidemark::cli {
namespace {

using analysis::PeakMetric;
using base::ErrorKind;

struct PeakCommandOptions {
  std::vector<std::string> words;  // the file, and the moments of --growth
  std::string at;
  std::string pid;
  std::string process;
  std::string layout = "tidemark";
  PeakMetric process_metric = PeakMetric::Pss;
  std::optional<PeakMetric> machine_metric;
  bool is_growth = false;
  std::optional<size_t> row_limit;
  CommonOptions common;

  PeakMetric metric() const { return machine_metric.value_or(process_metric); }
};

constexpr size_t kObjectRows = 20;
constexpr size_t kWatcherProcessRows = 30;

base::Result<ExitCode> print_watcher_machine(const PeakCommandOptions& options,
                                             const store::Recording& recording,
                                             size_t index, Output& output) {
  const model::RecordedTick& tick = recording.ticks()[index];
  base::Result<model::Sample> sample = recording.sample_at(tick.id, {});
  if (!sample) return sample.error();
  if (!sample->machine) {
    return base::fail(ErrorKind::NotFound,
                      "the machine was not read at that moment");
  }
  const PeakMetric metric = options.process_metric;
  base::Status status = output.write(view::watcher_machine_text(
      base::local_time(tick.realtime_ns),
      metric == PeakMetric::Pss   ? "Pss"
      : metric == PeakMetric::Rss ? "Rss"
                                  : "statm",
      analysis::watcher_machine(*sample, recording.info().page_size_bytes,
                                metric),
      options.row_limit.value_or(kWatcherProcessRows)));
  if (!status) return status.error();
  return ExitCode::Done;
}

std::string watcher_metric(const model::Process& process, bool is_pss_asked,
                           bool by_pss) {
  std::string metric = by_pss ? "Pss" : "Rss";
  if (is_pss_asked && !by_pss) {
    metric += ", which Pss does not exceed: it was not read";
  }
  if (process.is_estimated) {
    metric += ", estimated: read " + base::long_duration(process.split_age_ns) +
              " before";
  }
  return metric;
}

base::Result<ExitCode> print_watcher_listing(const PeakCommandOptions& options,
                                             const store::Recording& recording,
                                             const store::ProcessSet& chosen,
                                             size_t index, Output& output) {
  const model::RecordedTick& tick = recording.ticks()[index];
  base::Result<model::Sample> sample = recording.sample_at(tick.id, chosen);
  if (!sample) return sample.error();
  if (sample->processes.size() != 1) {
    return base::fail(ErrorKind::Misused, "this listing is of one process",
                      "choose it with --pid");
  }
  const model::Process& process = sample->processes.front();
  if (!process.mappings) {
    return base::fail(ErrorKind::NotFound, "the mappings of process " +
                                               std::to_string(process.id.pid) +
                                               " were not read at that moment");
  }
  int64_t id = 0;
  for (const model::RecordedProcess& recorded : recording.processes()) {
    if (recorded.process == process.id) id = recorded.id;
  }
  const bool is_pss_asked = options.process_metric == PeakMetric::Pss;
  const bool by_pss =
      is_pss_asked &&
      analysis::all_have(*process.mappings, model::SmapsField::Pss);
  view::WatcherHead head;
  head.pid = process.id.pid;
  head.process_id = id;
  head.name = process.stat.comm;
  head.measurement_id = (id << 32) + tick.id;
  head.time = base::local_time(tick.realtime_ns);
  head.metric = watcher_metric(process, is_pss_asked, by_pss);
  const analysis::WatcherListing listing = analysis::watcher_listing(
      *process.mappings,
      by_pss ? model::SmapsField::Pss : model::SmapsField::Rss);
  base::Status status = output.write(
      view::watcher_text(head, process, recording.info().page_size_bytes,
                         listing, options.row_limit.value_or(kObjectRows)));
  if (!status) return status.error();
  return ExitCode::Done;
}

base::Result<ExitCode> print_growth(const PeakCommandOptions& options,
                                    const store::Recording& recording,
                                    const store::ProcessSet& chosen,
                                    Output& output) {
  if (options.words.size() != 3) {
    return base::fail(ErrorKind::Misused, "--growth needs two moments",
                      "tidemark peak FILE --growth 00:10:00 00:20:00");
  }
  model::Sample sides[2];
  for (size_t i = 0; i < 2; ++i) {
    base::Result<size_t> index =
        find_moment_or_peak(recording, options.words[i + 1]);
    if (!index) return index.error();
    base::Result<model::Sample> sample =
        recording.sample_at(recording.ticks()[*index].id, chosen);
    if (!sample) return sample.error();
    sides[i] = std::move(*sample);
  }
  analysis::DiffReport report = analysis::compare_samples(sides[0], sides[1]);
  report.before_label = options.words[1];
  report.after_label = options.words[2];
  return write_report(
      output, options.common,
      [&](const auto& style) {
        return view::diff_text(
            report, {options.row_limit.value_or(kObjectRows)}, style);
      },
      [&](auto layout) { return view::diff_json(report, layout); });
}

base::Result<ExitCode> print_peak(const PeakCommandOptions& options,
                                  const store::Recording& recording,
                                  const store::ProcessSet& chosen,
                                  Output& output) {
  RecordedPeakOptions peak;
  peak.metric = options.metric();
  peak.row_limit = options.row_limit.value_or(kObjectRows);
  if (!options.at.empty()) {
    base::Result<size_t> index = find_moment_or_peak(recording, options.at);
    if (!index) return index.error();
    peak.tick_index = *index;
    peak.with_trends = false;  // of another moment than the one asked for
  }
  RecordedPeak found(recording, chosen);
  if (options.layout == "memory-watcher") {
    base::Result<size_t> index = found.index(peak);
    if (!index) return index.error();
    if (options.machine_metric) {
      return print_watcher_machine(options, recording, *index, output);
    }
    return print_watcher_listing(options, recording, chosen, *index, output);
  }
  base::Result<analysis::PeakReport> report = found.report(peak);
  if (!report) return report.error();
  return write_report(
      output, options.common,
      [&](const auto& style) { return view::peak_text(*report, {}, style); },
      [&](auto layout) { return view::peak_json(*report, layout); });
}

base::Result<ExitCode> run_peak(const PeakCommandOptions& options) {
  const std::string path = options.words.empty() ? "" : options.words[0];
  if (options.words.size() > 1 && !options.is_growth) {
    return base::fail(ErrorKind::Misused,
                      "'" + options.words[1] + "' is one word too many");
  }
  base::Result<store::Recording> recording =
      options.is_growth ? open_recording(path)
                        : open_recording_at(path, options.at);
  if (!recording) return recording.error();
  base::Result<store::ProcessSet> chosen =
      choose_processes(*recording, options.pid, options.process);
  if (!chosen) return chosen.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  return options.is_growth ? print_growth(options, *recording, *chosen, *output)
                           : print_peak(options, *recording, *chosen, *output);
}

PeakMetric metric_named(const std::string& word) {
  const std::pair<std::string_view, PeakMetric> known[] = {
      {"pss", PeakMetric::Pss},
      {"rss", PeakMetric::Rss},
      {"statm", PeakMetric::Statm},
      {"MemAvailable", PeakMetric::Available},
      {"MemAvailableComputed", PeakMetric::AvailableComputed},
  };
  for (const auto& [name, value] : known) {
    if (name == word) return value;
  }
  return PeakMetric::Pss;
}

}  // namespace

Command peak_command() {
  auto options = std::make_shared<PeakCommandOptions>();
  Command command;
  command.name = "peak";
  command.summary = "the highest moment of a recording, and what it was";
  command.description =
      "Finds the moment of the highest memory in a recording and says what it "
      "was made of: by kind, by file, by process. Beside it stand the kernel's "
      "own high-water marks, and by how much the recording missed them. --at "
      "shows another moment: the last sample at or before it.";
  command.examples = {
      {"tidemark peak web.tdm", "of all that was recorded"},
      {"tidemark peak web.tdm --pid 1234 --by rss", "of one process"},
      {"tidemark peak day.tdm --system-memory MemAvailable", "of the machine"},
      {"tidemark peak web.tdm --growth start end", "what grew, and by what"},
  };
  OptionTable& table = command.options;
  table.positional("FILE", "the recording, and two moments with --growth",
                   options->words, true);
  table.choice("--by,--process-memory", {"pss", "rss", "statm"},
               "what is highest (default pss)",
               [o = options.get()](const std::string& word) -> base::Status {
                 o->process_metric = metric_named(word);
                 return base::Ok{};
               });
  table.choice("--system-memory", {"MemAvailable", "MemAvailableComputed"},
               "of the machine: where the least was available, as the kernel "
               "says or as memory-watcher computes it",
               [o = options.get()](const std::string& word) -> base::Status {
                 o->machine_metric = metric_named(word);
                 return base::Ok{};
               });
  table.value("--at,--measurement-time", "TIME",
              "another moment: 2026-11-15T09:55:12.481Z, 00:41:12 or 90s after "
              "the start, tick:17, start, end",
              options->at);
  table.value("-p,--pid", "PID", "of this process alone", options->pid);
  table.value("--process,--process-id", "ID",
              "the same by its number in the recording", options->process);
  table.flag("--growth", "what changed between two moments",
             options->is_growth);
  table.choice("--layout", {"tidemark", "memory-watcher"}, "how to print it",
               [o = options.get()](const std::string& word) -> base::Status {
                 o->layout = word;
                 return base::Ok{};
               });
  table.count("--top", "objects with a line of their own (default 20)",
              [o = options.get()](uint64_t count) { o->row_limit = count; });
  add_common_options(table, options->common, {"text", "json", "jsonl"});
  command.run = [options] { return run_peak(*options); };
  return command;
}

}  // namespace tidemark::cli
