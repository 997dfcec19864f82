// `gate`: whether the memory of a command is within what was agreed.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/gate_report.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/gate_runs.h"
#include "cli/output.h"
#include "cli/output_file.h"
#include "cli/recording_head.h"
#include "parse/gate_baseline.h"
#include "view/json/gate.h"
#include "view/text/gate.h"

namespace tidemark::cli {
namespace {

using analysis::GateCheck;
using analysis::GateReport;
using analysis::GateVerdict;
using base::ErrorKind;

constexpr double kDefaultDriftPercent = 5;
constexpr uint64_t kMostRuns = 1'000;

struct GateOptions {
  std::vector<std::string> recordings;
  std::vector<std::string> command;
  std::string name;
  std::optional<model::GateMetric> metric;
  uint64_t run_count = 5;
  std::optional<uint64_t> budget_bytes;
  std::optional<double> drift_percent;
  std::string baseline_path;
  bool bootstraps = false;
  bool accepts = false;
  std::string summary_path;
  CommonOptions common;
};

base::Status check_options(const GateOptions& options) {
  const char* example = "tidemark gate --budget 2G -- make -j8";
  if (options.command.empty() == options.recordings.empty()) {
    return base::fail(ErrorKind::Misused,
                      options.command.empty()
                          ? "neither a command nor a recording to judge"
                          : "a command and recordings cannot be judged at once",
                      example);
  }
  if (!options.budget_bytes && options.baseline_path.empty()) {
    return base::fail(ErrorKind::Misused, "nothing to judge it by",
                      "--budget SIZE, --baseline FILE, or both");
  }
  const bool writes = options.bootstraps || options.accepts;
  if (writes && options.baseline_path.empty()) {
    return base::fail(ErrorKind::Misused, "no baseline to write",
                      "--baseline FILE names it");
  }
  return base::Ok{};
}

// How the baseline calls it, unless --name does.
std::string name_of(const GateOptions& options) {
  if (!options.name.empty()) return options.name;
  const std::vector<std::string>& words =
      options.command.empty() ? options.recordings : options.command;
  std::string name;
  for (const std::string& word : words)
    name += (name.empty() ? "" : " ") + word;
  return name;
}

// An empty one when there is no such file.
base::Result<model::GateBaseline> read_baseline(const std::string& path) {
  if (path.empty() || ::access(path.c_str(), F_OK) != 0) {
    return model::GateBaseline();
  }
  base::Result<base::Directory> here = base::open_directory(".");
  if (!here) return here.error();
  base::Result<std::string> text = base::read_file_at(*here, path);
  if (!text) return text.error();
  base::Result<model::GateBaseline> baseline =
      parse::parse_gate_baseline(*text);
  if (!baseline) return base::within(path, baseline.error());
  return baseline;
}

base::Result<analysis::GateInput> make_input(
    const GateOptions& options, const model::GateBaseline& baseline) {
  analysis::GateInput input;
  input.name = name_of(options);
  const model::GateEntry* entry = baseline.find(input.name);
  input.metric = options.command.empty() ? model::GateMetric::Pss
                                         : model::GateMetric::Charged;
  if (entry != nullptr) input.metric = entry->metric;
  if (options.metric) input.metric = *options.metric;
  input.budget_bytes = options.budget_bytes;
  input.drift_percent = options.drift_percent.value_or(kDefaultDriftPercent);
  if (entry == nullptr) return input;
  if (!options.accepts && entry->metric != input.metric) {
    return base::fail(ErrorKind::Misused,
                      "the baseline is of '" +
                          std::string(model::gate_metric_token(entry->metric)) +
                          "'",
                      "leave out --metric, or --accept the new one");
  }
  if (!input.budget_bytes) input.budget_bytes = entry->budget_bytes;
  if (!options.drift_percent) {
    input.drift_percent = entry->drift_percent.value_or(kDefaultDriftPercent);
  }
  // What is accepted is compared with nothing.
  if (!options.accepts) input.baseline = *entry;
  return input;
}

base::Status write_baseline(const GateOptions& options,
                            const source::Roots& roots,
                            const GateReport& report,
                            model::GateBaseline baseline) {
  const model::GateEntry* before = baseline.find(report.name);
  model::GateEntry entry;
  if (before != nullptr) entry = *before;
  entry.name = report.name;
  entry.metric = report.metric;
  entry.source = report.source;
  entry.runs_bytes.clear();
  for (const model::GateRun& run : report.runs)
    entry.runs_bytes.push_back(*run.bytes);
  if (options.budget_bytes) entry.budget_bytes = options.budget_bytes;
  if (options.drift_percent) entry.drift_percent = options.drift_percent;
  entry.made = base::rfc3339(base::realtime_ns());
  entry.kernel = recording_head(roots, "", 0).kernel;
  baseline.put(std::move(entry));
  base::Result<PendingFile> file = PendingFile::reserve(options.baseline_path);
  if (!file) return file.error();
  base::Result<Output> output = Output::open(file->temporary_path());
  if (!output) return output.error();
  base::Status status = output->write(view::gate_baseline_json(baseline));
  if (status) status = file->keep();
  if (status) {
    print_note(options.common, "baseline of '" + base::visible(report.name) +
                                   "' written to " + options.baseline_path);
  }
  return status;
}

bool is_over_budget(const GateReport& report) {
  for (const GateCheck& check : report.checks) {
    if (check.kind == GateCheck::Kind::Budget &&
        check.verdict != GateVerdict::Within) {
      return true;
    }
  }
  return false;
}

// One that failed must not become what the next is measured by.
bool is_to_be_kept(const GateOptions& options, const GateReport& report,
                   bool is_new) {
  if (!report.interval || is_over_budget(report)) return false;
  return options.accepts || (options.bootstraps && is_new);
}

ExitCode exit_code(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::Within:
    case GateVerdict::Better:
      return ExitCode::Done;
    case GateVerdict::Worse:
      return ExitCode::OverLimit;
    case GateVerdict::Undecided:
      break;
  }
  return ExitCode::Undecided;
}

base::Status print_report(const GateOptions& options, const GateReport& report,
                          Output& output) {
  const CommonOptions& common = options.common;
  if (common.format_word == "md") {
    return output.write(view::gate_markdown(report));
  }
  if (common.format == Format::Json) {
    return output.write(view::gate_json(report, json_layout(common.format)));
  }
  return output.write(view::gate_text(report, text_style(common, output.fd())));
}

base::Result<std::vector<model::GateRun>> make_runs(const GateOptions& options,
                                                    const source::Roots& roots,
                                                    model::GateMetric metric) {
  if (options.command.empty()) {
    return recorded_runs(options.recordings, metric);
  }
  return run_repeatedly(
      roots, {options.common, metric, options.command, options.run_count});
}

struct GateOutputs {
  Output report;
  std::optional<Output> summary;
};

// Also whether a baseline can be written: hours of runs must not end with that
// it cannot.
base::Result<GateOutputs> open_outputs(const GateOptions& options) {
  if (options.bootstraps || options.accepts) {
    const base::Result<PendingFile> room =
        PendingFile::reserve(options.baseline_path);
    if (!room) return room.error();
  }
  base::Result<Output> report = Output::open(options.common.output_path);
  if (!report) return report.error();
  GateOutputs outputs = {std::move(*report), std::nullopt};
  if (options.summary_path.empty()) return outputs;
  base::Result<Output> summary = Output::open_behind(options.summary_path);
  if (!summary) return summary.error();
  outputs.summary.emplace(std::move(*summary));
  return outputs;
}

base::Result<ExitCode> run_gate(const GateOptions& options) {
  base::Status status = check_options(options);
  if (!status) return status.error();
  base::Result<model::GateBaseline> baseline =
      read_baseline(options.baseline_path);
  if (!baseline) return baseline.error();
  base::Result<analysis::GateInput> input = make_input(options, *baseline);
  if (!input) return input.error();
  base::Result<source::Roots> roots = source::open_roots("");
  if (!roots) return roots.error();
  base::Result<GateOutputs> outputs = open_outputs(options);
  if (!outputs) return outputs.error();
  base::Result<std::vector<model::GateRun>> runs =
      make_runs(options, *roots, input->metric);
  if (!runs) return runs.error();
  input->runs = std::move(*runs);
  GateReport report = analysis::make_gate_report(*input);
  const bool is_new = baseline->find(report.name) == nullptr;
  const bool is_kept = is_to_be_kept(options, report, is_new);
  if (is_kept && report.checks.empty()) {
    report.verdict = GateVerdict::Within;
    report.because = "it is the baseline from now on";
  } else if (is_new && !options.baseline_path.empty() && !is_kept) {
    report.notes.push_back(options.baseline_path + " has no '" + report.name +
                           "'; --bootstrap writes it");
  }
  status = print_report(options, report, outputs->report);
  if (status && outputs->summary) {
    status = outputs->summary->write(view::gate_markdown(report));
  }
  if (status && is_kept) {
    status = write_baseline(options, *roots, report, std::move(*baseline));
  }
  if (!status) return status.error();
  return exit_code(report.verdict);
}

Take size_into(std::optional<uint64_t>& target) {
  return [&target](const std::string& word) -> base::Status {
    base::Result<uint64_t> bytes = base::parse_size(word);
    if (!bytes) return bytes.error();
    target = *bytes;
    return base::Ok{};
  };
}

Take percent_into(std::optional<double>& target) {
  return [&target](const std::string& word) -> base::Status {
    const std::optional<double> percent = base::parse_percent(word);
    if (!percent) {
      return base::fail(ErrorKind::Misused, "'" + word + "' is no percentage",
                        "write it as 5 or 2.5%");
    }
    target = percent;
    return base::Ok{};
  };
}

void add_gate_options(OptionTable& table, GateOptions& o) {
  table.positional("FILE.tdm", "recordings to judge, each as one run",
                   o.recordings, false);
  table.count(
      "-n,--runs", "how often the command runs (default 5)",
      [&o](uint64_t count) { o.run_count = std::min(count, kMostRuns); });
  table.choice("--metric", {"charged", "rss", "pss", "largest"},
               "which peak: of its control group (default), RSS or PSS of the "
               "tree, RSS of the largest process",
               [&o](const std::string& word) -> base::Status {
                 o.metric = model::find_gate_metric(word);
                 return base::Ok{};
               });
  table.value("--budget", "SIZE", "what it may take at most",
              size_into(o.budget_bytes));
  table.value("--baseline", "FILE", "compare with the runs kept here",
              o.baseline_path);
  table.value("--drift", "PERCENT",
              "how far it may be above the baseline (default 5)",
              percent_into(o.drift_percent));
  table.value("--name", "NAME",
              "what the baseline calls it (default the command)", o.name);
  table.flag("--bootstrap", "write it to the baseline if it is not in there",
             o.bootstraps);
  table.flag("--accept", "make these runs the baseline, also if they are worse",
             o.accepts);
  table.choice("--format", {"text", "json", "md"}, "how to print the result",
               [&o](const std::string& word) -> base::Status {
                 o.common.format_word = word;
                 if (word == "json") o.common.format = Format::Json;
                 return base::Ok{};
               });
  table.flag("--json", "the same as --format json",
             [&o] { o.common.format = Format::Json; });
  table.choice("--color", {"auto", "always", "never"},
               "colour on the terminal; auto honours NO_COLOR",
               [&o](const std::string& word) -> base::Status {
                 o.common.color = word;
                 return base::Ok{};
               });
  table.value("-o,--output", "FILE", "write the result there; - is stdout",
              o.common.output_path);
  table.value("--summary", "FILE",
              "add it there too, as Markdown: $GITHUB_STEP_SUMMARY",
              o.summary_path);
  table.flag("-q,--quiet", "no remarks on standard error", o.common.quiet);
  table.flag("-h,--help", "this text", o.common.help);
  table.command_after_dashes("COMMAND", "what to run, with its arguments",
                             o.command);
}

}  // namespace

Command gate_command() {
  auto options = std::make_shared<GateOptions>();
  Command command;
  command.name = "gate";
  command.summary = "a memory budget for CI: within, worse, or not decided";
  command.description =
      "Runs a command several times and judges its peak memory by a budget, "
      "by a baseline that is kept with the sources, or by both. Nothing is "
      "assumed of how the runs are spread: it is within when the whole "
      "interval of the true median is, worse when the whole interval is "
      "above, and else not decided, with the number of runs that would "
      "decide. The command's output goes to standard error. Exit status: 0 "
      "within or better, 10 worse, 11 not decided (also when a run failed), "
      "1 when the command cannot be started.";
  command.examples = {
      {"tidemark gate --budget 2G -- make -j8", "exit 10 when it takes more"},
      {"tidemark gate --baseline mem.json --bootstrap -- ./test", "keep it"},
      {"tidemark gate --baseline mem.json --drift 3 -- ./test", "3 % at most"},
      {"tidemark gate --budget 1G --metric rss a.tdm b.tdm", "of recordings"},
  };
  add_gate_options(command.options, *options);
  command.run = [options] { return run_gate(*options); };
  return command;
}

}  // namespace tidemark::cli
