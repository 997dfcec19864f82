#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/moments.h"
#include "cli/output.h"
#include "cli/recorded_peak.h"
#include "view/json/peak.h"
#include "view/text/peak.h"
#include "watch/stop_signals.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

struct ReplayCommandOptions {
  std::string path;
  std::string from = "start";
  std::string to = "end";
  std::string pid;
  std::string process;
  std::optional<double> speed = 1;  // empty: as fast as it goes
  std::optional<uint64_t> step_ns;  // between two frames, of recorded time
  std::optional<uint64_t> frame_interval_ns;  // between two frames, of ours
  size_t row_limit = 10;
  CommonOptions common;
};

// "4x", "0.5", "max".
base::Status take_speed(const std::string& word, std::optional<double>& speed) {
  if (word == "max") {
    speed.reset();
    return base::Ok{};
  }
  const std::string number =
      word.ends_with('x') ? word.substr(0, word.size() - 1) : word;
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || end == nullptr || *end != '\0' || !(value > 0) ||
      value > 1e9) {
    return base::fail(ErrorKind::Misused, "'" + word + "' is not a speed",
                      "4x, 0.5x or max");
  }
  speed = value;
  return base::Ok{};
}

class Replay {
 public:
  Replay(const ReplayCommandOptions& options, const store::Recording& recording,
         RecordedPeak& peak, Output& output, watch::StopSignals& signals)
      : options_(options),
        ticks_(recording.ticks()),
        peak_(peak),
        output_(output),
        signals_(signals),
        is_screen_(options.common.format == Format::Text &&
                   ::isatty(output.fd()) != 0) {}

  base::Result<ExitCode> play(size_t first, size_t last) {
    const uint64_t started_ns = base::monotonic_ns();
    uint64_t shown_count = 0;
    for (size_t i = first; i <= last; i = next_after(i, last)) {
      const uint64_t due_ns = started_ns + wait_of(first, i, shown_count++);
      if (signals_.wait_until(due_ns) == watch::WaitEnd::Stop) break;
      base::Status status = show(i);
      if (!status) return status.error();
      if (i == last) break;
    }
    return ExitCode::Done;
  }

 private:
  size_t next_after(size_t i, size_t last) const {
    if (!options_.step_ns) return i + 1;
    const uint64_t next_ns = ticks_[i].monotonic_ns + *options_.step_ns;
    size_t next = i + 1;
    while (next < last && ticks_[next].monotonic_ns < next_ns)
      ++next;
    return next;
  }

  // From the start to this frame.
  uint64_t wait_of(size_t first, size_t i, uint64_t shown_count) const {
    if (options_.frame_interval_ns) {
      return *options_.frame_interval_ns * shown_count;
    }
    if (!options_.speed) return 0;
    const auto passed = static_cast<double>(ticks_[i].monotonic_ns -
                                            ticks_[first].monotonic_ns);
    return static_cast<uint64_t>(passed / *options_.speed);
  }

  base::Status show(size_t index) {
    RecordedPeakOptions peak;
    peak.tick_index = index;
    peak.row_limit = options_.row_limit;
    peak.with_trends = false;
    base::Result<analysis::PeakReport> report = peak_.report(peak);
    if (!report) return report.error();
    if (options_.common.format != Format::Text) {
      return output_.write(
          view::peak_json(*report, base::JsonWriter::Layout::OneLine));
    }
    view::PeakTextOptions text;
    text.process_rows = options_.row_limit;
    text.is_step = true;
    // Over the last frame on a terminal, one below the other elsewhere.
    return output_.write(
        (is_screen_ ? "\x1b[H\x1b[2J" : "") +
        view::peak_text(*report, text,
                        text_style(options_.common, output_.fd())) +
        (is_screen_ ? "" : "\n"));
  }

  const ReplayCommandOptions& options_;
  const std::vector<model::RecordedTick>& ticks_;
  RecordedPeak& peak_;
  Output& output_;
  watch::StopSignals& signals_;
  bool is_screen_;
};

base::Result<ExitCode> run_replay(const ReplayCommandOptions& options) {
  base::Result<store::Recording> recording = open_recording(options.path);
  if (!recording) return recording.error();
  base::Result<store::ProcessSet> chosen =
      choose_processes(*recording, options.pid, options.process);
  if (!chosen) return chosen.error();
  base::Result<size_t> first = find_moment_or_peak(*recording, options.from);
  if (!first) return first.error();
  base::Result<size_t> last = find_moment_or_peak(*recording, options.to);
  if (!last) return last.error();
  if (*first > *last) {
    return base::fail(ErrorKind::Misused, "--from is later than --to");
  }
  RecordedPeak peak(*recording, *chosen);
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  base::Result<watch::StopSignals> signals = watch::StopSignals::block();
  if (!signals) return signals.error();
  return Replay(options, *recording, peak, *output, *signals)
      .play(*first, *last);
}

void add_replay_options(OptionTable& table, ReplayCommandOptions& o) {
  table.value(
      "--speed", "N",
      "times the speed it was recorded at: 4x, 0.5x, max (default 1x)",
      [&o](const std::string& word) { return take_speed(word, o.speed); });
  const auto take_time = [](std::optional<uint64_t>& target) {
    return [&target](const std::string& word) -> base::Status {
      base::Result<uint64_t> ns = base::parse_duration(word);
      if (!ns) return ns.error();
      target = *ns;
      return base::Ok{};
    };
  };
  table.value("--interval", "DUR", "a frame each so often, whatever the speed",
              take_time(o.frame_interval_ns));
  table.value("--step", "DUR", "skip to this much later between two frames",
              take_time(o.step_ns));
  table.value("--from", "TIME", "where to begin (as in peak --at)", o.from);
  table.value("--to", "TIME", "where to end", o.to);
  table.value("-p,--pid", "PID", "of this process alone", o.pid);
  table.value("--process,--process-id", "ID",
              "the same by its number in the recording", o.process);
}

}  // namespace

Command replay_command() {
  auto options = std::make_shared<ReplayCommandOptions>();
  Command command;
  command.name = "replay";
  command.summary = "play a recording: what memory was made of, over time";
  command.description =
      "Shows each sample of a recording in turn, at the speed it was taken or "
      "another. On a terminal each frame replaces the last; elsewhere they "
      "follow each other.";
  command.examples = {
      {"tidemark replay web.tdm --speed 10x", "ten times as fast"},
      {"tidemark replay web.tdm --from 00:40:00 --to peak", "the way up"},
      {"tidemark replay web.tdm --speed max --step 1min", "once a minute"},
  };
  OptionTable& table = command.options;
  table.positional("FILE", "the recording", options->path, true);
  add_replay_options(table, *options);
  add_common_options(table, options->common, {"text", "jsonl"});
  command.run = [options] { return run_replay(*options); };
  return command;
}

}  // namespace tidemark::cli
