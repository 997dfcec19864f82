#include "cli/run.h"

#include <memory>
#include <utility>

#include "analysis/run_report.h"
#include "base/escape.h"
#include "base/units.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/trace_words.h"
#include "source/roots.h"
#include "view/json/run.h"
#include "view/json/trace.h"
#include "view/profile/trace_profile.h"
#include "view/text/run.h"

namespace tidemark::cli {
namespace {

// One page in so many, as `trace --user` has it.
constexpr uint64_t kStackPeriod = 64;

base::Result<Output> open_report(const RunCommandOptions& options) {
  // Standard output belongs to the command unless it is asked for.
  if (options.common.output_path.empty()) return Output::standard_error();
  return Output::open(options.common.output_path);
}

watch::RunOptions watch_options(const RunCommandOptions& options) {
  watch::RunOptions run;
  run.command.arguments = options.command;
  run.command.ignores_broken_pipe = were_broken_pipes_ignored();
  run.gauge.may_use_group = options.via == "auto" || options.via == "cgroup" ||
                            options.via == "cgroup+bpf";
  run.gauge.may_use_bpf = options.via == "auto" || options.via == "bpf" ||
                          options.via == "cgroup+bpf";
  run.gauge.freezes = options.freezes;
  run.gauge.stops_at_crossing = options.exact_peak;
  run.gauge.sees_page_cache = options.sees_page_cache;
  run.gauge.times_bpf = options.times_bpf;
  run.waits_for_all = options.waits_for_all;
  if (options.with_stacks)
    run.stack_period = options.stack_period.value_or(kStackPeriod);
  return run;
}

// Formats that have stacks and nothing else.
bool is_of_stacks(const CommonOptions& common) {
  return common.format_word == "folded" || common.format_word == "pprof" ||
         common.format_word == "speedscope" || wants_page(common);
}

base::Status check_stacks(const RunCommandOptions& options) {
  if (options.with_stacks) return base::Ok{};
  if (is_of_stacks(options.common)) {
    return base::fail(base::ErrorKind::Misused,
                      "this format is of stacks, and none are followed",
                      "tidemark run --user … -- COMMAND");
  }
  if (!options.stack_period) return base::Ok{};
  return base::fail(base::ErrorKind::Misused, "--sample is of --user");
}

// As the tree stood at its peak: nothing is left when the command has ended.
std::string render_stacks(const model::Trace& trace,
                          const std::string& format) {
  const view::TraceProfileOptions at_peak = {true};
  if (format == "folded") return view::trace_folded(trace, at_peak);
  if (format == "pprof") return view::trace_pprof(trace, at_peak);
  return view::trace_speedscope(trace, at_peak);
}

std::string render(const analysis::RunReport& report,
                   const RunCommandOptions& options, const Output& output) {
  if (is_of_stacks(options.common)) {
    return render_stacks(*report.trace, options.common.format_word);
  }
  if (options.common.format != Format::Text) {
    return view::run_json(report, json_layout(options.common.format));
  }
  const view::TextStyle style = text_style(options.common, output.fd());
  if (options.common.quiet) return view::run_line(report, style);
  return view::run_text(report, {options.row_limit}, style);
}

base::Status print(const analysis::RunReport& report,
                   const RunCommandOptions& options, Output& output) {
  if (!wants_page(options.common)) {
    return output.write(render(report, options, output));
  }
  const std::string json =
      view::trace_json(*report.trace, base::JsonWriter::Layout::OneLine);
  const view::PageReport page = {"trace", json};
  base::Result<ExitCode> written = write_page(output, {&page, 1});
  return written ? base::Status(base::Ok{}) : written.error();
}

ExitCode status_of(const analysis::RunReport& report,
                   const RunCommandOptions& options) {
  const bool is_over =
      options.limit_bytes && report.peak.bytes > *options.limit_bytes;
  if (options.limit_bytes && report.left_group_count > 0) {
    write_stderr("tidemark: the limit does not bind all of the command: " +
                 base::visible(analysis::left_group_text(report)) + "\n");
  }
  if (!is_over) return static_cast<ExitCode>(report.exit_status);
  write_stderr("tidemark: the peak of " + base::long_size(report.peak.bytes) +
               " is over the limit of " +
               base::long_size(*options.limit_bytes) + "\n");
  // A command that failed by itself has the more important news.
  return report.exit_status == 0 ? ExitCode::OverLimit
                                 : static_cast<ExitCode>(report.exit_status);
}

void add_method_options(OptionTable& table, RunCommandOptions& o) {
  table.choice("--via", {"auto", "cgroup+bpf", "cgroup", "bpf", "sampling"},
               "how to measure; auto takes the first of these that works",
               [&o](const std::string& word) -> base::Status {
                 o.via = word;
                 return base::Ok{};
               });
  table.flag("--exact-peak",
             "stop the process that grows for a moment at each new high, so "
             "that no peak gets away; visible to its parent as SIGCHLD",
             o.exact_peak);
  table.flag("--freeze",
             "freeze the whole tree while it is looked at, so that all of its "
             "processes are seen at one moment",
             o.freezes);
  table.flag("--page-cache",
             "be woken by page cache as well; costs every page allocation of "
             "the machine",
             o.sees_page_cache);
  table.flag("--wait", "wait for all the command started, not for itself alone",
             o.waits_for_all);
  table.flag("--time-bpf", "time our BPF programs for the cost line",
             o.times_bpf);
}

void add_stack_options(OptionTable& table, RunCommandOptions& o) {
  table.flag("--user",
             "also through which functions of programs the memory came, at the "
             "peak, as trace --user tells it; by --format folded, pprof, "
             "speedscope or html these stacks alone",
             o.with_stacks);
  table.value("--sample", "N",
              "with --user: follow one page frame in N (a power of two), or "
              "fewer; 64 unless given",
              [&o](const std::string& word) {
                return take_trace_sample(word, o.stack_period.emplace());
              });
}

}  // namespace

ExitCode run_failure(const watch::RunFailure& failure) {
  print_error(failure.error);
  if (!failure.is_command) return ExitCode::WrapperFailed;
  return failure.error.kind == base::ErrorKind::NotFound
             ? ExitCode::NotFound
             : ExitCode::NotExecutable;
}

ExitCode run_status(const model::RunRecord& record) {
  return static_cast<ExitCode>(analysis::exit_status_of(record.wait_status));
}

base::Result<ExitCode> run_run(const RunCommandOptions& options) {
  if (options.command.empty()) {
    return base::fail(base::ErrorKind::Misused, "no command to run",
                      "tidemark run -- COMMAND [ARGUMENT...]");
  }
  base::Status checked = check_stacks(options);
  if (checked && wants_page(options.common)) {
    checked = check_page_output(options.common,
                                "tidemark run --user -o out.html -- COMMAND");
  }
  if (!checked) return checked.error();
  base::Result<Output> output = open_report(options);
  if (!output) return output.error();
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  // A command runs here; a copied tree or another machine's cannot show it.
  if (!roots->is_live) {
    return base::fail(base::ErrorKind::Misused,
                      "run needs the running kernel's own /proc",
                      "leave out --proc and unset PROCFS");
  }
  watch::RunOutcome outcome =
      watch::watch_command(*roots, watch_options(options));
  if (outcome.failure) return run_failure(*outcome.failure);
  analysis::RunReport report = analysis::make_run_report(outcome.record);
  if (outcome.trace) analysis::add_stacks(*outcome.trace, report);
  base::Status status = print(report, options, *output);
  // A report nobody reads does not change what the command did.
  if (!status && status.error().kind != base::ErrorKind::Closed) {
    print_error(status.error());
  }
  return status_of(report, options);
}

Command run_command() {
  auto options = std::make_shared<RunCommandOptions>();
  Command command;
  command.name = "run";
  command.summary =
      "run a command and report its true peak and what it was made of";
  command.description =
      "Runs COMMAND as it would run without us: streams, terminal, signals and "
      "exit status pass through. Afterwards says how high the memory of "
      "everything it started rose, by the kernel's own mark of a control group "
      "made for it, what that peak was made of, and who lived, however short. "
      "The report goes to standard error, or to -o FILE. Everything behind the "
      "first word that is no option belongs to COMMAND. Exit status: that of "
      "COMMAND, 128+N when signal N ended it, 125 when we failed, 126 when it "
      "could not be executed, 127 when it was not found, 10 for --limit.";
  command.examples = {
      {"tidemark run -- make -j8", "the peak of a build, taken apart"},
      {"tidemark run --json -o run.json -- ./test", "for a script"},
      {"tidemark run --limit 2G -- ./test", "exit 10 when it took more"},
      {"tidemark run --exact-peak -- ./spike", "miss no peak, however short"},
      {"tidemark run --user -- ./prog", "also by function, at the peak"},
  };
  OptionTable& table = command.options;
  table.command("COMMAND", "what to run, with its arguments", options->command);
  table.value("--limit", "SIZE", "exit with 10 when the peak is higher",
              [o = options.get()](const std::string& word) -> base::Status {
                base::Result<uint64_t> bytes = base::parse_size(word);
                if (!bytes) return bytes.error();
                o->limit_bytes = *bytes;
                return base::Ok{};
              });
  add_method_options(table, *options);
  add_stack_options(table, *options);
  table.count("--top", "rows of each table (default 10)",
              [o = options.get()](uint64_t count) { o->row_limit = count; });
  add_common_options(
      table, options->common,
      {"text", "json", "jsonl", "folded", "pprof", "speedscope", "html"});
  command.run = [options] { return run_run(*options); };
  return command;
}

}  // namespace tidemark::cli
