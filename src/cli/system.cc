// `system`: where the machine's memory is, line by line.
#include "cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "analysis/system_report.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/output.h"
#include "source/system_source.h"
#include "view/csv/system.h"
#include "view/json/system.h"
#include "view/text/system.h"
#include "watch/loop.h"
#include "watch/stop_signals.h"

namespace tidemark::cli {
namespace {

using analysis::SystemReport;

struct SystemOptions {
  CommonOptions common;
  watch::LoopOptions loop;
  bool with_time = false;
  bool explain = false;
};

// Turns samples into lines.
class SystemPrinter : public model::Sink {
 public:
  SystemPrinter(const SystemOptions& options, Output& output)
      : options_(options),
        output_(output),
        style_(text_style(options.common, output.fd())),
        is_terminal_(::isatty(output.fd()) == 1) {}

  base::Status accept(const model::Sample& sample) override {
    std::optional<SystemReport> report = analysis::make_system_report(sample);
    if (!report) {
      return base::fail(base::ErrorKind::Malformed,
                        "meminfo lacks MemTotal or MemFree");
    }
    if (!first_other_bytes_) first_other_bytes_ = report->other_bytes;
    report->other_change_bytes = report->other_bytes - *first_other_bytes_;
    note_unknown(*report);
    return output_.write(render(*report));
  }

  base::Status finish() override { return base::Ok{}; }

 private:
  std::string render(const SystemReport& report) {
    const bool is_first = line_count_ == 0;
    switch (options_.common.format) {
      case Format::Json:
      case Format::JsonLines:
        return view::system_json(report,
                                 options_.loop.count == 1U
                                     ? json_layout(options_.common.format)
                                     : base::JsonWriter::Layout::OneLine,
                                 options_.explain);
      case Format::Csv:
        ++line_count_;
        return (is_first ? view::system_csv_head() : "") +
               view::system_csv_row(report);
      case Format::Text:
        break;
    }
    if (options_.explain) return view::system_explanation(report, style_);
    std::string text = head_if_due(report);  // it decides on the layout
    return text += view::system_line(report, layout_, style_);
  }

  // At the start, where a column has come up, and on a screen so often that it
  // never scrolls away.
  std::string head_if_due(const SystemReport& report) {
    constexpr uint64_t kLinesPerHead = 20;
    view::SystemLayout layout =
        view::system_layout(report, layout_, options_.with_time, style_);
    const bool is_due = line_count_ == 0 || !(layout == layout_) ||
                        (is_terminal_ && line_count_ % kLinesPerHead == 0);
    layout_ = std::move(layout);
    ++line_count_;
    return is_due ? view::system_head(layout_, style_) : "";
  }

  // The explanation and JSON carry the reasons; a line of numbers cannot.
  void note_unknown(const SystemReport& report) {
    const Format format = options_.common.format;
    const bool is_bare =
        format == Format::Csv || (format == Format::Text && !options_.explain);
    if (!is_bare) return;
    if (!std::exchange(has_noted_, true)) {
      for (const auto& [name, because] : analysis::unknown_columns(report)) {
        print_note(options_.common, fmt::format("{} is unknown: {}", name,
                                                base::visible(because)));
      }
    }
    if (report.other_bytes < 0 && !std::exchange(has_noted_negative_, true)) {
      print_note(options_.common,
                 "other is negative: something is counted twice, or memory "
                 "moved while it was read; see --explain");
    }
  }

  const SystemOptions& options_;
  Output& output_;
  view::TextStyle style_;
  bool is_terminal_;
  view::SystemLayout layout_;
  std::optional<int64_t> first_other_bytes_;
  uint64_t line_count_ = 0;
  bool has_noted_ = false;
  bool has_noted_negative_ = false;
};

base::Result<ExitCode> run_system(const SystemOptions& given) {
  SystemOptions options = given;
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  // A copy does not change, and an explanation is read once.
  const bool is_endless = !options.loop.count && !options.loop.duration_ns;
  if (is_endless && (options.explain || !roots->is_live)) {
    options.loop.count = 1;
  }
  base::Result<watch::StopSignals> signals = watch::StopSignals::block();
  if (!signals) return signals.error();
  source::SystemSource source(*roots);
  SystemPrinter printer(options, *output);
  const watch::LoopClock clock = {base::monotonic_ns, [&](uint64_t until) {
                                    return signals->wait_until(until, -1);
                                  }};
  base::Result<watch::LoopResult> result =
      watch::run_loop(source, printer, options.loop, clock);
  if (!result) return result.error();
  if (result->missed_count > 0) {
    print_note(options.common,
               std::to_string(result->missed_count) +
                   " ticks were missed: reading took longer than the interval");
  }
  return ExitCode::Done;
}

void add_loop_options(OptionTable& table, watch::LoopOptions& loop) {
  table.value("-d,-f,--interval,--period", "DUR|HZ",
              "time between lines: 2, 100ms, 10Hz (default 1s)",
              [&loop](const std::string& word) -> base::Status {
                base::Result<uint64_t> ns = base::parse_duration(word);
                if (!ns) return ns.error();
                loop.period_ns = *ns;
                return base::Ok{};
              });
  table.value("-n,--count", "N", "end after N lines",
              [&loop](const std::string& word) -> base::Status {
                loop.count = base::parse_u64(word);
                if (loop.count && *loop.count > 0) return base::Ok{};
                return base::fail(base::ErrorKind::Misused,
                                  "'" + word + "' is not a count");
              });
  table.value("--duration", "DUR", "end after this time, with a last line",
              [&loop](const std::string& word) -> base::Status {
                base::Result<uint64_t> ns = base::parse_duration(word);
                if (!ns) return ns.error();
                loop.duration_ns = *ns;
                return base::Ok{};
              });
}

}  // namespace

Command system_command() {
  auto options = std::make_shared<SystemOptions>();
  Command command;
  command.name = "system";
  command.summary = "where the machine's memory is, in columns that sum to it";
  command.description =
      "Prints a line per interval until Ctrl-C. The columns sum to the RAM of "
      "the machine, what was taken at boot (WIRED) included; OTHER is what no "
      "column names, and DRIFT how much that has changed since the first line. "
      "Columns share one where the screen is narrow; --wide keeps them apart. "
      "A column that is not known is a ? and the reason is said once. Root "
      "sees all of them.";
  command.examples = {
      {"tidemark system", "a line per second"},
      {"tidemark system -t -d 5 -n 12", "a minute, with the time"},
      {"tidemark system --explain", "how each column is made, once"},
      {"tidemark system -n 1 --json", "one object for a program"},
  };
  OptionTable& table = command.options;
  add_loop_options(table, options->loop);
  table.flag("-t,--timestamps", "begin each line with the time (UTC)",
             options->with_time);
  table.flag("--explain", "each column with the figures it is made of",
             options->explain);
  add_common_options(table, options->common, {"text", "json", "jsonl", "csv"});
  command.run = [options] { return run_system(*options); };
  return command;
}

}  // namespace tidemark::cli
