#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/run_report.h"
#include "analysis/trace_report.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/trace_line.h"
#include "cli/trace_meaning.h"
#include "cli/trace_notes.h"
#include "cli/trace_options.h"
#include "cli/trace_recording.h"
#include "cli/trace_screen.h"
#include "source/cgroups.h"
#include "source/gfp_filter.h"
#include "source/kernel_files.h"
#include "source/roots.h"
#include "view/json/trace.h"
#include "view/profile/trace_profile.h"
#include "view/text/trace.h"
#include "watch/trace_watch.h"

namespace tidemark::cli {
namespace {

using analysis::TraceReportKind;
using base::ErrorKind;

base::Result<std::vector<analysis::TraceReportSpec>> specs_of(
    const TraceCommandOptions& options) {
  if (!options.reports.empty()) {
    return analysis::parse_trace_reports(options.reports, options.tree);
  }
  analysis::TraceTreeOptions tree = options.tree;
  // What fits a screen says most; --report tree:top=… says all.
  constexpr size_t kTop = 8;
  constexpr uint32_t kThrottle = 80;
  if (tree.top == 0) tree.top = kTop;
  if (tree.throttle_percent == 0) tree.throttle_percent = kThrottle;
  return analysis::parse_trace_reports(options.at_peak ? "peak" : "tree", tree);
}

bool has(const std::vector<analysis::TraceReportSpec>& specs,
         TraceReportKind kind) {
  return std::ranges::find(specs, kind, &analysis::TraceReportSpec::kind) !=
         specs.end();
}

base::Status resolve_cgroup(const source::Roots& roots,
                            TraceCommandOptions& options) {
  if (options.cgroup.empty()) return base::Ok{};
  for (const auto& [inode, path] :
       source::CgroupHierarchy::find(roots).list()) {
    if (path != options.cgroup) continue;
    options.watch.trace.filter.cgroup_id = inode;
    return base::Ok{};
  }
  return base::fail(ErrorKind::NotFound,
                    "no control group '" + options.cgroup + "'",
                    "paths begin with / as in /proc/PID/cgroup");
}

base::Status resolve_gfp(const source::Roots& roots,
                         TraceCommandOptions& options) {
  if (options.gfp.empty()) return base::Ok{};
  base::Result<source::GfpBits> bits =
      source::read_gfp_bits(roots, options.gfp);
  if (!bits) return base::within("--gfp", bits.error());
  options.watch.trace.filter.wanted_gfp_bits = bits->wanted;
  options.watch.trace.filter.unwanted_gfp_bits = bits->unwanted;
  return base::Ok{};
}

std::string render(const TraceCommandOptions& options,
                   const analysis::TraceReport& report, int fd) {
  const model::Trace& trace = *report.trace;
  const std::string& format = options.common.format_word;
  // A profile is one tree: the report peak alone asks for that of the peak.
  const bool is_peak = std::ranges::all_of(
      report.sections, [](const analysis::TraceSection& section) {
        return section.spec.kind == TraceReportKind::Peak;
      });
  const view::TraceProfileOptions profile = {options.at_peak || is_peak};
  if (format == "folded") return view::trace_folded(trace, profile);
  if (format == "pprof") return view::trace_pprof(trace, profile);
  if (format == "speedscope") return view::trace_speedscope(trace, profile);
  if (options.common.format != Format::Text) {
    return view::trace_json(trace, json_layout(options.common.format),
                            options.boot.at_start
                                ? view::AskedCrashKernel(report.crash_kernel)
                                : std::nullopt);
  }
  return view::trace_text(report, options.text, text_style(options.common, fd));
}

// Reports say it themselves; a profile has no place for it, and against events
// that are lost something can be done.
void warn_of_losses(const model::TraceFaults& faults,
                    const CommonOptions& common) {
  const bool is_profile = common.format_word == "folded" ||
                          common.format_word == "pprof" ||
                          common.format_word == "speedscope";
  const bool has_lost = faults.lost_events > 0;
  if (common.quiet || !(has_lost || (is_profile && faults.change_numbers())))
    return;
  write_stderr(
      fmt::format("tidemark: {}: the numbers are too high or too low\n{}",
                  view::trace_losses(faults),
                  has_lost ? "  hint: more room with --buf-size, fewer events "
                             "with --sample\n"
                           : ""));
}

using SlabCaches = model::Reading<std::vector<model::SlabCache>>;

base::Status print_page(const TraceCommandOptions& options,
                        const model::Trace& trace,
                        const std::vector<analysis::TraceReportSpec>& specs,
                        Output& output) {
  constexpr auto kLayout = base::JsonWriter::Layout::OneLine;
  const std::string json = view::trace_json(trace, kLayout);
  std::string base_json;
  std::vector<view::PageReport> reports = {{"trace", json}};
  if (!options.base.empty()) {
    base::Result<model::Trace> base =
        read_recorded_trace(options.base, options.at, specs);
    if (!base) return base::within("--base", base.error());
    base_json = view::trace_json(*base, kLayout);
    reports.push_back({"tracebase", base_json});
  }
  base::Result<ExitCode> written = write_page(output, reports);
  return written ? base::Status(base::Ok{}) : written.error();
}

base::Status print(const TraceCommandOptions& options, const SlabCaches& caches,
                   const model::Trace& trace,
                   const std::vector<analysis::TraceReportSpec>& specs,
                   Output& output) {
  if (!options.prints_unasked && !is_report_asked_for(options))
    return base::Ok{};
  if (wants_page(options.common)) {
    return print_page(options, trace, specs, output);
  }
  analysis::TraceReport report =
      analysis::make_trace_report(trace, specs, caches);
  if (options.boot.at_start) {
    report.crash_kernel = advise_crash_kernel(options.boot, trace);
  }
  const std::string text = render(options, report, output.fd());
  // The file is another one each time, and not the one that was opened.
  if (options.boot.refreshes) return keep_report(options.common, text);
  return output.write(text);
}

// From the kernel's notes on each page.
base::Result<ExitCode> run_page_owner(
    const TraceCommandOptions& options, const source::Roots& roots,
    const std::vector<analysis::TraceReportSpec>& specs) {
  if (!options.notes.group_by.empty()) {
    return run_page_owner_groups(roots, options.notes);
  }
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  base::Result<model::Trace> trace =
      read_page_owner_trace(roots, options.notes);
  if (!trace) return trace.error();
  if (wants_screen(options)) {
    const std::string& file = options.notes.page_owner_file;
    base::Status shown =
        show_trace(roots, options, file.empty() ? "page_owner" : file, *trace);
    if (!shown) return shown.error();
    if (!is_report_asked_for(options)) return ExitCode::Done;
  }
  base::Status status =
      print(options, source::read_slabinfo(roots), *trace, specs, *output);
  if (!status) return status.error();
  return ExitCode::Done;
}

base::Result<ExitCode> run_recorded(
    const TraceCommandOptions& options,
    const std::vector<analysis::TraceReportSpec>& specs) {
  if (!options.watch.command.empty()) {
    return base::fail(ErrorKind::Misused,
                      "a report on a recording runs no command",
                      "-o FILE.tdm records one");
  }
  if (is_recording_name(options.common.output_path)) {
    return base::fail(ErrorKind::Misused,
                      "a report on a recording is no recording",
                      "another name for -o");
  }
  base::Result<model::Trace> trace =
      read_recorded_trace(options.recording, options.at, specs);
  if (!trace) return trace.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  if (wants_screen(options)) {
    base::Status shown = show_recorded_trace(options);
    if (!shown) return shown.error();
    if (!is_report_asked_for(options)) return ExitCode::Done;
  }
  warn_of_losses(trace->faults, options.common);
  base::Status status = print(
      options,
      model::unknown<std::vector<model::SlabCache>>("not in the recording"),
      *trace, specs, *output);
  if (!status) return status.error();
  return ExitCode::Done;
}

// What is traced, in words.
std::string targets_of(const TraceCommandOptions& options) {
  std::string words;
  for (const std::string& word : options.watch.command)
    words += (words.empty() ? "" : " ") + word;
  const std::optional<int32_t> pid = options.watch.trace.filter.tree_pid;
  if (words.empty() && pid) words = "process " + std::to_string(*pid);
  if (words.empty() || options.everything) words = "the machine";
  return "page allocations of " + words;
}

// Where readings go while it traces; nowhere unless a recording was asked for.
base::Result<std::unique_ptr<store::Recorder>> start_recording(
    const TraceCommandOptions& options, const source::Roots& roots) {
  if (!is_recording_name(options.common.output_path)) {
    return std::unique_ptr<store::Recorder>();
  }
  return make_trace_recorder(roots,
                             {options.common.output_path, targets_of(options),
                              options.watch.period_ns, options.overwrites});
}

// How it is followed, by what is to be told of it.
void fill_watch(const std::vector<analysis::TraceReportSpec>& specs,
                bool is_recorded, TraceCommandOptions& options) {
  options.watch.follows_command = !options.everything;
  options.watch.ignores_broken_pipe = were_broken_pipes_ignored();
  options.watch.backend = model::trace_backend_from_token(options.backend);
  options.watch.sees_growth =
      has(specs, TraceReportKind::Growth) || wants_page(options.common);
  options.watch.follows_slab |= has(specs, TraceReportKind::Slab);
  options.watch.tells_before = !options.watch.trace.with_user_stacks &&
                               (has(specs, TraceReportKind::Modules) ||
                                options.common.format != Format::Text ||
                                is_recorded || wants_screen(options));
}

base::Result<ExitCode> run_live(
    TraceCommandOptions options, const source::Roots& roots,
    const std::vector<analysis::TraceReportSpec>& specs) {
  if (!roots.is_live) {
    return base::fail(ErrorKind::Misused,
                      "tracing needs the running kernel's own /proc",
                      "leave out --proc and unset PROCFS");
  }
  base::Status status = arrange_trace_boot(options.common, options.boot);
  if (status) status = resolve_cgroup(roots, options);
  if (status) status = resolve_gfp(roots, options);
  if (!status) return status.error();
  if (has(specs, TraceReportKind::CrashKernel)) {
    options.boot.at_start = read_memory_moment(roots);
  }
  base::Result<std::unique_ptr<store::Recorder>> recorder =
      start_recording(options, roots);
  if (!recorder) return recorder.error();
  options.watch.sink = recorder->get();
  base::Result<Output> output =
      Output::open(*recorder ? "" : options.common.output_path);
  if (!output) return output.error();
  fill_watch(specs, *recorder != nullptr, options);
  TraceLine line(options.common);
  watch::TraceHooks hooks;
  hooks.progress = [&](const watch::TraceProgress& progress) {
    line.show(progress);
  };
  hooks.started = [&] {
    line.begin();
    say_ready(options.boot, options.common);
  };
  if (options.boot.refreshes) {
    // What cannot be kept now is the end's to say.
    hooks.running = [&](const model::Trace& trace) {
      see_others(trace, options.boot);
      static_cast<void>(
          print(options, source::read_slabinfo(roots), trace, specs, *output));
    };
  }
  const bool has_screen = wants_screen(options);
  base::Result<watch::TraceOutcome> outcome =
      has_screen ? watch_trace_on_screen(roots, options, hooks)
                 : watch::watch_trace(roots, options.watch, hooks);
  line.wipe();
  if (!outcome) return outcome.error();
  warn_of_losses(outcome->trace.faults, options.common);
  if (*recorder) say_recorded(options.common, **recorder);
  // Who is quiet about a recording wants the file alone.
  if (!*recorder || !options.common.quiet) {
    status = print(options, source::read_slabinfo(roots), outcome->trace, specs,
                   *output);
    if (!status) return status.error();
  }
  if (outcome->unrecorded) return *outcome->unrecorded;
  if (!outcome->ending) return ExitCode::Done;
  return static_cast<ExitCode>(
      analysis::exit_status_of(outcome->ending->wait_status));
}

// What of the options the notes can be asked for.
void fill_notes(TraceCommandOptions& options) {
  TraceNotesOptions& notes = options.notes;
  const source::TraceFilter& filter = options.watch.trace.filter;
  if (filter.tree_pid) notes.selection.tgids = {*filter.tree_pid};
  if (!filter.comm.empty()) notes.selection.names = {filter.comm};
  if (options.tree.top > 0) notes.top = options.tree.top;
  notes.duration_ns = options.watch.duration_ns;
  notes.common = options.common;
}

base::Status check_page(const TraceCommandOptions& options,
                        bool reads_allocinfo) {
  if (reads_allocinfo || !options.notes.group_by.empty()) {
    return base::fail(ErrorKind::Misused,
                      "a page is of stacks, and these are none",
                      "--json, or another --backend");
  }
  return check_page_output(options.common, "tidemark trace -o out.html -- CMD");
}

base::Result<ExitCode> run_trace(TraceCommandOptions options) {
  base::Status arranged = arrange_user(options);
  if (!arranged) return arranged.error();
  base::Result<std::vector<analysis::TraceReportSpec>> specs =
      specs_of(options);
  if (!specs) return specs.error();
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  options.text.has_banners = !options.reports.empty();
  const bool reads_allocinfo = options.backend == "allocinfo";
  const bool reads_page_owner =
      options.backend == "pageowner" || !options.notes.page_owner_file.empty();
  const bool reads_notes = reads_allocinfo || reads_page_owner;
  if (options.common.format == Format::Csv && !reads_notes) {
    return base::fail(ErrorKind::Misused,
                      "csv is for the kernel's own notes, which are tables",
                      "--backend pageowner or allocinfo; else --json");
  }
  if (wants_page(options.common)) {
    base::Status status = check_page(options, reads_allocinfo);
    if (!status) return status.error();
  } else if (!options.base.empty()) {
    return base::fail(ErrorKind::Misused, "--base is for pages",
                      "tidemark trace A.tdm --base B.tdm -o out.html");
  }
  if (!options.recording.empty()) return run_recorded(options, *specs);
  if (!options.at.empty()) {
    return base::fail(ErrorKind::Misused, "--at is for recordings",
                      "tidemark trace FILE.tdm --at peak");
  }
  if (reads_notes && is_recording_name(options.common.output_path)) {
    return base::fail(ErrorKind::Misused,
                      "the kernel's notes are read once and not recorded",
                      "another name for -o");
  }
  fill_notes(options);
  if (reads_notes) {
    base::Status status = refuse_with_notes(options);
    if (!status) return status.error();
  }
  if (reads_allocinfo) return run_allocinfo(*roots, options.notes);
  if (reads_page_owner) {
    return run_page_owner(options, *roots, *specs);
  }
  if (!options.notes.group_by.empty() || !options.notes.sort_by.empty()) {
    return base::fail(ErrorKind::Misused,
                      "--group and --sort are for the kernel's own notes",
                      "--backend pageowner or allocinfo; else --report "
                      "tree:by=…");
  }
  return run_live(std::move(options), *roots, *specs);
}

Command make_trace_command(bool is_memstrack) {
  auto options = std::make_shared<TraceCommandOptions>();
  options->prints_unasked = !is_memstrack;
  // A boot may end by a reset; memstrack has no option to be asked with.
  options->boot.refreshes_unasked = is_memstrack;
  Command command;
  command.name = "trace";
  command.summary =
      "kernel page allocations by task, module and stack, with peaks";
  command.description =
      "Follows every page that the kernel's page allocator gives out and takes "
      "back, until Ctrl-C, a given time or the end of a command, and says who "
      "holds them, through which code of the kernel: now, at its own peak, and "
      "when the machine was at its peak. Pages are counted in the kernel by "
      "BPF, so none is lost however busy the machine is; where that is refused "
      "they are counted here, as perf or a trace buffer tells of them, at the "
      "price of CPU time and of losses when buffers run over. What could not "
      "be followed is counted and said. On a terminal, without a command, it "
      "is shown as it goes on, in the trace view of `top`. With -o FILE.tdm it "
      "is recorded as it goes: every moment can be reported later with `trace "
      "FILE.tdm --at TIME`, also when the trace was killed.";
  command.examples = {
      {"tidemark trace", "to look at while it goes on"},
      {"tidemark trace --duration 10s", "the machine for ten seconds"},
      {"tidemark trace -- make -j8", "what a build takes, by stack"},
      {"tidemark trace --report task_summary", "as memstrack reports it"},
      {"tidemark trace -o pages.html -- make", "stacks to look at"},
      {"tidemark trace --user -- ./prog", "which lines made its peak"},
      {"tidemark trace b.tdm --base a.tdm -o b.html",
       "what grew since, by stack"},
      {"tidemark trace --format folded -o pages.txt", "for a flame graph"},
      {"tidemark trace -o day.tdm -f 10s --sample 16 -q",
       "a recording of the machine"},
      {"tidemark trace day.tdm --at peak --report module_summary",
       "modules at the peak"},
  };
  add_trace_options(command.options, *options);
  command.run = [options] { return run_trace(*options); };
  return command;
}

}  // namespace

Command trace_command() {
  return make_trace_command(false);
}

Command memstrack_command() {
  return make_trace_command(true);
}

}  // namespace tidemark::cli
