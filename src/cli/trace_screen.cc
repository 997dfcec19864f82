#include "cli/trace_screen.h"

#include <unistd.h>

#include <memory>
#include <utility>

#include "analysis/trace_report.h"
#include "base/clock.h"
#include "base/escape.h"
#include "cli/output.h"
#include "cli/top_screen.h"
#include "view/text/trace.h"
#include "watch/trace_supply.h"

namespace tidemark::cli {
namespace {

constexpr view::tui::Top::Start kTraceAlone = {U'4', true};
constexpr view::tui::Top::Start kTraceFirst = {U'4', false};

view::tui::ScreenOptions screen_options(const TraceCommandOptions& options) {
  const view::TextStyle style = text_style(options.common, STDOUT_FILENO);
  view::tui::ScreenOptions screen;
  screen.allows_color = style.color;
  screen.is_utf8 = style.utf8;
  return screen;
}

std::string target_words(const TraceCommandOptions& options) {
  const source::TraceFilter& filter = options.watch.trace.filter;
  std::string words;
  const auto add = [&](const std::string& more) {
    words += (words.empty() ? "" : ", ") + more;
  };
  if (filter.tree_pid) add("process " + std::to_string(*filter.tree_pid));
  if (!filter.comm.empty()) add(filter.comm);
  if (!options.cgroup.empty()) add(options.cgroup);
  if (!filter.module.empty()) add("module " + filter.module);
  return words.empty() ? "the machine" : words;
}

}  // namespace

bool wants_screen(const TraceCommandOptions& options) {
  const CommonOptions& common = options.common;
  // What is printed in another form is for a program.
  const bool is_for_a_program =
      common.output_path.empty() &&
      (common.format != Format::Text || !common.format_word.empty());
  return !options.has_no_screen && !common.quiet && !is_for_a_program &&
         common.output_path != "-" && options.watch.command.empty() &&
         ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
}

bool is_report_asked_for(const TraceCommandOptions& options) {
  return !options.reports.empty() || !options.common.output_path.empty();
}

base::Result<watch::TraceOutcome> watch_trace_on_screen(
    const source::Roots& roots, const TraceCommandOptions& options,
    const watch::TraceHooks& hooks) {
  base::Result<watch::StopSignals> signals = watch::StopSignals::block();
  if (!signals) return signals.error();
  std::unique_ptr<watch::TraceSupply> supply;
  {
    base::Result<view::tui::Screen> screen =
        view::tui::Screen::open(screen_options(options));
    if (!screen) return watch::watch_trace(roots, options.watch, hooks);
    base::Result<std::unique_ptr<watch::TraceSupply>> started =
        watch::TraceSupply::start(roots, target_words(options), options.watch);
    if (!started) return started.error();
    supply = std::move(*started);
    base::Result<ExitCode> shown =
        show_supply(*screen, *signals, *supply, kTraceAlone);
    if (!shown) return shown.error();
  }
  return supply->finish();
}

base::Status show_trace(const source::Roots& roots,
                        const TraceCommandOptions& options,
                        const std::string& target, const model::Trace& trace) {
  base::Result<watch::StopSignals> signals = watch::StopSignals::block();
  if (!signals) return signals.error();
  base::Result<view::tui::Screen> screen =
      view::tui::Screen::open(screen_options(options));
  if (!screen) return screen.error();
  base::Result<std::unique_ptr<watch::TraceSupply>> supply =
      watch::TraceSupply::of(roots, target, trace);
  if (!supply) return supply.error();
  base::Result<ExitCode> shown =
      show_supply(*screen, *signals, **supply, kTraceAlone);
  if (!shown) return shown.error();
  return base::Ok{};
}

base::Status show_recorded_trace(const TraceCommandOptions& options) {
  // What each held at the machine's peak is in every reading: v shows it.
  const bool is_end = options.at.empty() || options.at == "peak";
  base::Result<ExitCode> shown =
      show_recording(options.recording, is_end ? "end" : options.at,
                     screen_options(options), kTraceFirst);
  if (!shown) return shown.error();
  return base::Ok{};
}

std::string write_trace_report(const model::Trace& trace) {
  std::string path =
      "trace-" + base::local_time(base::realtime_ns()).substr(0, 19) + ".txt";
  for (char& c : path) {
    if (c == ':') c = '-';
  }
  analysis::TraceTreeOptions tree;
  base::Result<std::vector<analysis::TraceReportSpec>> specs =
      analysis::parse_trace_reports("module_summary,tree,growth", tree);
  if (!specs) return specs.error().what;
  const analysis::TraceReport report = analysis::make_trace_report(
      trace, *specs,
      model::unknown<std::vector<model::SlabCache>>("not asked for"));
  view::TraceTextOptions text;
  text.has_banners = true;
  base::Result<Output> output = Output::open(path);
  if (!output) return output.error().what;
  base::Status written = output->write(view::trace_text(report, text, {}));
  return written ? "written to " + path : written.error().what;
}

}  // namespace tidemark::cli
