#include "cli/get.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "analysis/get_report.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/output.h"
#include "cli/targets.h"
#include "source/machine_reader.h"
#include "source/process_source.h"
#include "view/csv/reports.h"
#include "view/json/get.h"
#include "view/text/get.h"
#include "watch/exact_source.h"
#include "watch/high_watch.h"
#include "watch/loop.h"
#include "watch/stop_signals.h"

namespace tidemark::cli {
namespace {

using analysis::GetReport;

// Turns samples into lines and keeps the highest.
class GetPrinter : public model::Sink {
 public:
  GetPrinter(const GetOptions& options, Output& output,
             std::vector<model::DeviceNumber> memory_devices)
      : options_(options),
        output_(output),
        devices_(std::move(memory_devices)),
        style_(text_style(options.common, output.fd())) {}

  // Lives as long as the watch; may be null.
  void set_highs(watch::HighWatch* highs) { highs_ = highs; }

  base::Status accept(const model::Sample& sample) override {
    if (highs_ != nullptr) {
      highs_->sampled(sample.ended_monotonic_ns - sample.started_monotonic_ns);
    }
    GetReport report = analysis::make_get_report(sample, devices_);
    ++sample_count_;
    if (sample.is_new_high) ++new_high_count_;
    note_unknown(report);
    const uint64_t height = report.total.in_ram().bytes;
    if (!peak_ || height > peak_->total.in_ram().bytes) peak_ = report;
    if (sample.is_new_high) {
      // A steep rise gives dozens; the highest until the next tick is enough.
      if (!pending_ || height > pending_->total.in_ram().bytes) {
        pending_ = std::move(report);
      }
      return base::Ok{};
    }
    base::Status status = print_pending(height);
    if (status) status = print(report);
    return status;
  }

  base::Status finish() override {
    base::Status status = print_pending(0);
    if (!status) return status;
    if (!options_.watch || options_.peak == PeakMode::None || !peak_) {
      return base::Ok{};
    }
    return output_.write(render_peak());
  }

  // Whether the last headline could not be told at all.
  bool is_unknown() const { return is_unknown_; }

 private:
  base::Status print(const GetReport& report) {
    if (options_.peak == PeakMode::Only && options_.watch) return base::Ok{};
    return output_.write(render(report));
  }

  // A new high that the tick after it shows as well is not printed twice.
  base::Status print_pending(uint64_t tick_bytes) {
    const std::optional<GetReport> pending = std::exchange(pending_, {});
    if (!pending || pending->total.in_ram().bytes <= tick_bytes) {
      return base::Ok{};
    }
    return print(*pending);
  }

  // The full report and JSON carry the reason; a bare number cannot.
  void note_unknown(const GetReport& report) {
    const bool is_bare =
        options_.in_bytes || options_.as_memstat ||
        options_.common.format == Format::Csv ||
        (options_.watch && options_.common.format == Format::Text);
    const std::string because = report.unknown_because();
    if (is_bare && !because.empty() && !has_noted_) {
      print_note(options_.common, because);
      has_noted_ = true;
    }
    is_unknown_ = report.total.in_ram().is_unknown();
  }

  view::GetTextOptions text_options() const {
    return {options_.verbose, options_.peak != PeakMode::None,
            options_.peak == PeakMode::Only};
  }

  std::string render(const GetReport& report) {
    const bool is_first = !std::exchange(has_printed_, true);
    switch (options_.common.format) {
      case Format::Json:
      case Format::JsonLines:
        return view::get_json(
            report, options_.watch ? base::JsonWriter::Layout::OneLine
                                   : json_layout(options_.common.format));
      case Format::Csv:
        return (is_first ? view::get_csv_head() : "") +
               view::get_csv_rows(report, options_.verbose);
      case Format::Text:
        break;
    }
    if (options_.as_memstat) {
      return view::get_memstat_text(report, options_.verbose,
                                    options_.in_bytes);
    }
    if (options_.in_bytes) {
      return view::get_bytes_line(report, options_.peak == PeakMode::Only);
    }
    if (!options_.watch) {
      return view::get_text(report, text_options(), style_);
    }
    return (is_first ? view::get_watch_head(style_) : "") +
           view::get_watch_line(report, text_options(), style_);
  }

  std::string render_peak() const {
    if (options_.common.format == Format::Csv) {
      // A column of readings must stay one: the peak stands alone or not at
      // all.
      if (options_.peak != PeakMode::Only) return {};
      return view::get_csv_head() +
             view::get_csv_rows(*peak_, options_.verbose);
    }
    analysis::PeakReadings readings{sample_count_, new_high_count_, {}};
    if (highs_ != nullptr) {
      // Its sums lag behind smaps by a batch.
      readings.rss_bytes =
          std::max(highs_->highest_rss_bytes(), peak_->total.rss.bytes);
    }
    if (options_.common.format != Format::Text) {
      return view::get_peak_json(*peak_, readings);
    }
    if (options_.as_memstat) {
      const std::string head = options_.peak == PeakMode::Only ? "" : "Peak:\n";
      return head + view::get_memstat_text(*peak_, options_.verbose,
                                           options_.in_bytes);
    }
    if (options_.in_bytes) return view::get_bytes_line(*peak_, false);
    return view::get_peak_text(*peak_, readings, text_options(), style_);
  }

  const GetOptions& options_;
  Output& output_;
  std::vector<model::DeviceNumber> devices_;
  view::TextStyle style_;
  std::optional<GetReport> peak_;
  std::optional<GetReport> pending_;  // the highest since the last tick
  watch::HighWatch* highs_ = nullptr;
  uint64_t sample_count_ = 0;
  uint64_t new_high_count_ = 0;
  bool has_printed_ = false;
  bool has_noted_ = false;
  bool is_unknown_ = false;
};

source::CollectOptions collect_options(const GetOptions& options,
                                       std::vector<model::ProcessId> targets) {
  source::CollectOptions collect;
  collect.selection = {std::move(targets), options.with_descendants};
  // Categories need every mapping, and the threads to tell their stacks.
  const bool wants_categories = options.verbose && !options.as_memstat &&
                                options.common.format != Format::Csv &&
                                !options.in_bytes;
  collect.detail.mappings = wants_categories;
  collect.detail.threads = wants_categories;
  collect.detail.cgroup = false;
  collect.machine = false;
  return collect;
}

// Only a watch of this machine's own processes can be woken. Without the right
// to it the ticks alone must do, and the last line says what that means.
std::optional<watch::HighWatch> watch_highs(const GetOptions& options,
                                            const source::Roots& roots,
                                            source::ProcessSource& source) {
  const bool is_wanted = options.watch && !options.as_memstat &&
                         !options.in_bytes && roots.is_live;
  if (!is_wanted) return std::nullopt;
  base::Result<std::vector<int32_t>> pids = source.choose_pids();
  if (!pids) return std::nullopt;
  base::Result<watch::HighWatch> highs =
      watch::HighWatch::start(*pids, options.with_descendants);
  if (!highs) return std::nullopt;
  return std::move(*highs);
}

base::Result<ExitCode> watch_targets(const GetOptions& options,
                                     const source::Roots& roots,
                                     source::ProcessSource& source,
                                     GetPrinter& printer) {
  std::unique_ptr<watch::ExactSource> exact;
  if (options.is_exact) {
    base::Result<std::unique_ptr<watch::ExactSource>> opened =
        watch::ExactSource::open(roots, source);
    if (!opened) return opened.error();
    exact = std::move(*opened);
  }
  model::Source& read = exact ? static_cast<model::Source&>(*exact) : source;
  base::Result<watch::StopSignals> signals = watch::StopSignals::block();
  if (!signals) return signals.error();
  watch::LoopOptions loop;
  loop.period_ns = options.period_ns;
  loop.count = options.count;
  loop.duration_ns = options.duration_ns;
  if (!options.watch) loop.count = 1;
  std::optional<watch::HighWatch> highs = watch_highs(options, roots, source);
  if (highs) printer.set_highs(&*highs);
  if (options.watch && !options.as_memstat && !options.in_bytes) {
    print_note(options.common, "reading in full at every tick");
  }
  const watch::LoopClock clock = {
      base::monotonic_ns, [&](uint64_t until) {
        const int wake_fd = highs ? highs->fd() : -1;
        watch::WaitEnd end = signals->wait_until(until, wake_fd);
        while (end == watch::WaitEnd::Wake && !highs->is_due()) {
          end = signals->wait_until(until, wake_fd);
        }
        return end;
      }};
  base::Result<watch::LoopResult> result =
      watch::run_loop(read, printer, loop, clock);
  if (!result) return result.error();
  if (result->missed_count > 0) {
    print_note(options.common,
               std::to_string(result->missed_count) +
                   " ticks were missed: reading took longer than the interval");
  }
  if (result->end == watch::LoopEnd::TargetGone) return result->gone;
  // A script that asked for a number and got none must notice.
  const bool wants_number = options.in_bytes || options.as_memstat;
  if (wants_number && printer.is_unknown()) return ExitCode::Failed;
  return ExitCode::Done;
}

base::Status set_duration(const std::string& word, uint64_t& target) {
  base::Result<uint64_t> ns = base::parse_duration(word);
  if (!ns) return ns.error();
  target = *ns;
  return base::Ok{};
}

void add_watch_options(OptionTable& table, GetOptions& o) {
  table.value("--interval,--period", "DUR|HZ",
              "time between readings with -w: 100ms, 2s, 10Hz (default 1s)",
              [&o](const std::string& word) {
                return set_duration(word, o.period_ns);
              });
  table.count("--count", "end after N readings; implies -w",
              [&o](uint64_t count) {
                o.count = count;
                o.watch = true;
              });
  table.value("--duration", "DUR",
              "end after this time, with a last sample; implies -w",
              [&o](const std::string& word) -> base::Status {
                o.watch = true;
                o.duration_ns = 0;
                return set_duration(word, *o.duration_ns);
              });
}

}  // namespace

base::Result<uint64_t> parse_frequency(const std::string& word) {
  const bool is_bare =
      word.find_first_not_of("0123456789.") == std::string::npos;
  base::Result<uint64_t> ns =
      base::parse_duration(is_bare ? word + "Hz" : word);
  if (ns || !is_bare) return ns;
  return base::fail(base::ErrorKind::Misused, "'" + word + "' is not a rate",
                    "write it as 10, 10Hz or 100ms");
}

void add_memstat_options(OptionTable& table, GetOptions& o) {
  table.flag("-r,--recursive,--recursively",
             "count all descendants of the process too", o.with_descendants);
  table.flag("-v,--verbose", "each process, and what its memory is made of",
             o.verbose);
  table.flag("-w,--watch", "read again and again, until it ends or Ctrl-C",
             o.watch);
  table.value("-f,--frequency", "RATE",
              "readings per second with -w: 10, 10Hz, 100ms",
              [&o](const std::string& word) -> base::Status {
                base::Result<uint64_t> ns = parse_frequency(word);
                if (!ns) return ns.error();
                o.period_ns = *ns;
                return base::Ok{};
              });
  table.flag("--bytes", "only the number, in bytes", o.in_bytes);
  table.flag("--peak",
             "the highest reading of a watch, or the peak RSS (default)",
             [&o] { o.peak = PeakMode::WithSamples; });
  table.flag("--no-peak", "leave that out", [&o] { o.peak = PeakMode::None; });
  table.flag("--only-peak", "print nothing else",
             [&o] { o.peak = PeakMode::Only; });
}

base::Result<ExitCode> run_get(const GetOptions& options) {
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  base::Result<std::vector<model::ProcessId>> targets =
      find_targets(*roots, options.targets);
  if (!targets) return targets.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  const int32_t first = targets->front().pid;
  source::ProcessSource source(*roots,
                               collect_options(options, std::move(*targets)));
  GetPrinter printer(options, *output,
                     source::read_memory_devices(*roots, first));
  return watch_targets(options, *roots, source, printer);
}

Command get_command() {
  auto options = std::make_shared<GetOptions>();
  Command command;
  command.name = "get";
  command.summary = "memory of a process or tree, now or repeatedly";
  command.description =
      "Prints how much RAM a process holds: its proportional share (PSS) and "
      "its huge pages, and beside that what is swapped out, what is private, "
      "its RSS and what the kernel keeps for it. A NAME must be the whole name "
      "of one process. With several processes, or -r, the sum comes first.";
  command.examples = {
      {"tidemark get 1234", "how much RAM process 1234 holds"},
      {"tidemark get -rv postgres", "a tree, by process and kind"},
      {"tidemark get -w --interval 100ms 1234", "ten lines a second"},
      {"tidemark get --bytes 1234", "one number for a script"},
  };
  OptionTable& table = command.options;
  table.positional("PID|NAME", "the processes", options->targets, true);
  add_memstat_options(table, *options);
  add_watch_options(table, *options);
  table.flag("--exact",
             "shares to the page, by who maps each; private of a tree is what "
             "only its processes map (root)",
             options->is_exact);
  add_common_options(table, options->common, {"text", "json", "jsonl", "csv"});
  command.run = [options] { return run_get(*options); };
  return command;
}

}  // namespace tidemark::cli
