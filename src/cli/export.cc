#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/escape.h"
#include "base/text.h"
#include "base/time_zone.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/export_profile.h"
#include "cli/file_options.h"
#include "cli/moments.h"
#include "cli/output.h"
#include "cli/output_file.h"
#include "model/moment.h"
#include "store/flat_writer.h"
#include "store/recording.h"
#include "store/watcher_writer.h"
#include "view/csv/export.h"
#include "view/json/export.h"
#include "view/profile/perfetto.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using model::Moment;
using model::RecordedTick;

enum class ExportFormat {
  Csv,
  JsonLines,
  Sqlite,
  Folded,
  Pprof,
  Speedscope,
  Perfetto,
  Watcher
};

struct ExportOptions {
  std::string path;
  ExportFormat format = ExportFormat::Csv;
  std::optional<view::ExportTable> table;
  std::string at;
  std::string since;
  std::string until;
  std::optional<int64_t> first_tick;
  std::optional<int64_t> last_tick;
  std::string pid;
  std::string process;
  base::TimeZone zone;
  bool overwrites = false;
  CommonOptions common;
};

struct Span {
  int64_t first = 0;
  int64_t last = 0;
};

// What is made of stacks, and of one moment.
std::optional<ProfileFormat> profile_format(ExportFormat format) {
  switch (format) {
    case ExportFormat::Folded:
      return ProfileFormat::Folded;
    case ExportFormat::Pprof:
      return ProfileFormat::Pprof;
    case ExportFormat::Speedscope:
      return ProfileFormat::Speedscope;
    default:
      return std::nullopt;
  }
}

bool is_binary(ExportFormat format) {
  return format == ExportFormat::Pprof || format == ExportFormat::Perfetto;
}

bool is_database(ExportFormat format) {
  return format == ExportFormat::Sqlite || format == ExportFormat::Watcher;
}

// The first tick that is not before the moment, where find_moment gives the
// last that is not behind it.
base::Result<size_t> find_start(const store::Recording& recording,
                                const std::string& word) {
  const std::vector<RecordedTick>& ticks = recording.ticks();
  const std::optional<uint64_t> time = base::parse_rfc3339(word);
  if (!time) return find_moment_or_peak(recording, word);
  // Not by halves: the clock may have been set back on the way.
  auto found = std::ranges::find_if(ticks, [&](const RecordedTick& tick) {
    return tick.realtime_ns >= *time;
  });
  if (found == ticks.end()) {
    const RecordedTick& last =
        *std::ranges::max_element(ticks, {}, &RecordedTick::realtime_ns);
    return base::fail(ErrorKind::NotFound,
                      base::visible(word) + " is behind the recording",
                      "it ends at " + base::rfc3339(last.realtime_ns));
  }
  return static_cast<size_t>(found - ticks.begin());
}

base::Status check_span_options(const ExportOptions& options) {
  const bool has_ticks = options.first_tick || options.last_tick;
  const bool has_times = !options.since.empty() || !options.until.empty();
  if ((has_ticks ? 1 : 0) + (has_times ? 1 : 0) + (options.at.empty() ? 0 : 1) >
      1) {
    return base::fail(
        ErrorKind::Misused,
        "--at, --since with --until, and --from-tick with --to-tick exclude "
        "each other");
  }
  if (profile_format(options.format) && (has_ticks || has_times)) {
    return base::fail(ErrorKind::Misused, "stacks are of one moment",
                      "choose it with --at");
  }
  return base::Ok{};
}

base::Result<Span> find_span(const store::Recording& recording,
                             const ExportOptions& options) {
  const std::vector<RecordedTick>& ticks = recording.ticks();
  Span span = {ticks.front().id, ticks.back().id};
  // It looks for its moments itself.
  if (profile_format(options.format)) return Span{};
  if (!options.at.empty()) {
    base::Result<size_t> index = find_moment_or_peak(recording, options.at);
    if (!index) return index.error();
    return Span{ticks[*index].id, ticks[*index].id};
  }
  if (!options.since.empty()) {
    base::Result<size_t> index = find_start(recording, options.since);
    if (!index) return index.error();
    span.first = ticks[*index].id;
  }
  if (!options.until.empty()) {
    base::Result<size_t> index = find_moment_or_peak(recording, options.until);
    if (!index) return index.error();
    span.last = ticks[*index].id;
  }
  if (options.first_tick)
    span.first = std::max(span.first, *options.first_tick);
  if (options.last_tick) span.last = std::min(span.last, *options.last_tick);
  if (span.first > span.last) {
    return base::fail(ErrorKind::Misused, "no tick is in that span",
                      fmt::format("they go from {} to {}", ticks.front().id,
                                  ticks.back().id));
  }
  return span;
}

// Makes moments of samples: what of a process was read when, and the notes.
class MomentMaker {
 public:
  static base::Result<MomentMaker> prepare(const store::Recording& recording) {
    MomentMaker maker(recording);
    base::Result<std::vector<model::RecordedNote>> notes = recording.notes();
    if (!notes) return notes.error();
    std::map<int64_t, const model::RecordedProcess*> by_id;
    for (const model::RecordedProcess& process : recording.processes()) {
      by_id[process.id] = &process;
      maker.processes_[{process.process.pid, process.process.start_ticks}]
          .push_back(&process);
    }
    for (model::RecordedNote& note : *notes) {
      model::ObserverNote& kept = maker.notes_[note.tick].emplace_back();
      kept.text = std::move(note.text);
      const auto found = by_id.find(note.process.value_or(-1));
      if (found != by_id.end()) kept.process = found->second->process;
    }
    return maker;
  }

  base::Result<Moment> make(const RecordedTick& tick,
                            const model::Sample& sample) const {
    Moment moment;
    moment.tick = tick;
    moment.sample = &sample;
    moment.page_size_bytes = recording_.info().page_size_bytes;
    for (const model::Process& process : sample.processes) {
      base::Result<std::optional<int64_t>> detail =
          recording_.detail_tick(number_of(process.id, tick.id), tick.id);
      if (!detail) return detail.error();
      moment.detail_ticks.push_back(process.mappings ? *detail : std::nullopt);
    }
    const auto notes = notes_.find(tick.id);
    if (notes != notes_.end()) moment.notes = notes->second;
    return moment;
  }

 private:
  explicit MomentMaker(const store::Recording& recording)
      : recording_(recording) {}

  // One that was lost from sight and found again has two numbers.
  int64_t number_of(const model::ProcessId& id, int64_t tick) const {
    const auto bearers = processes_.find({id.pid, id.start_ticks});
    if (bearers == processes_.end()) return -1;
    for (const model::RecordedProcess* process : bearers->second) {
      const bool has_gone =
          process->gone_at_tick && *process->gone_at_tick <= tick;
      if (process->first_tick <= tick && !has_gone) return process->id;
    }
    return -1;
  }

  const store::Recording& recording_;
  std::map<std::pair<int32_t, uint64_t>,
           std::vector<const model::RecordedProcess*>>
      processes_;
  std::map<int64_t, std::vector<model::ObserverNote>> notes_;
};

using MomentTaker = std::function<base::Status(const Moment&)>;

struct ExportJob {
  const ExportOptions& options;
  const store::Recording& recording;
  store::ProcessSet processes;
  Span span;

  base::Status walk(const MomentTaker& take) const {
    base::Result<MomentMaker> maker = MomentMaker::prepare(recording);
    if (!maker) return maker.error();
    return recording.walk_samples(
        span.first, span.last, processes,
        [&](const RecordedTick& tick, model::Sample& sample) -> base::Status {
          base::Result<Moment> moment = maker->make(tick, sample);
          if (!moment) return moment.error();
          return take(*moment);
        });
  }
};

base::Status export_perfetto(const ExportJob& job, Output& output) {
  model::TraceCourse course;
  // The trace is of all; whoever asks for one process wants nothing else.
  if (job.processes.empty()) {
    base::Result<model::TraceCourse> read =
        job.recording.trace_course(job.span.first, job.span.last);
    if (!read) return read.error();
    course = std::move(*read);
  }
  view::PerfettoTrace perfetto(std::move(course));
  return job.walk([&](const Moment& moment) {
    return output.write(perfetto.packets(moment));
  });
}

base::Status export_text(const ExportJob& job, Output& output) {
  const ExportOptions& options = job.options;
  if (const auto format = profile_format(options.format)) {
    base::Result<std::string> profile = export_profile(
        job.recording, {*format, options.at, job.processes, options.common});
    return profile ? output.write(*profile) : profile.error();
  }
  const view::ExportTable table =
      options.table.value_or(view::ExportTable::Processes);
  if (options.format == ExportFormat::Csv) {
    base::Status status = output.write(view::export_csv_head(table));
    if (!status) return status;
  }
  if (options.format == ExportFormat::Perfetto) {
    return export_perfetto(job, output);
  }
  return job.walk([&](const Moment& moment) {
    return output.write(options.format == ExportFormat::JsonLines
                            ? view::export_json_line(moment)
                            : view::export_csv_rows(table, moment));
  });
}

template <typename Writer>
base::Status fill(base::Result<Writer> writer, const ExportJob& job) {
  if (!writer) return writer.error();
  base::Status status =
      job.walk([&](const Moment& moment) { return writer->add(moment); });
  return status ? writer->finish() : status;
}

base::Status export_to_file(const ExportJob& job, const std::string& path) {
  switch (job.options.format) {
    case ExportFormat::Sqlite:
      return fill(store::FlatWriter::create(path, job.recording.info()), job);
    case ExportFormat::Watcher:
      return fill(store::WatcherWriter::create(path, job.options.zone), job);
    default: {
      base::Result<Output> output = Output::open(path);
      if (!output) return output.error();
      return export_text(job, *output);
    }
  }
}

// A pipe or a device takes text as it comes; it cannot appear whole.
bool is_stream(const std::string& path) {
  if (path.empty() || path == "-") return true;
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) &&
         !S_ISDIR(info.st_mode);
}

base::Status check_options(const ExportOptions& options) {
  base::Status status = check_span_options(options);
  if (!status) return status;
  if (options.table && options.format != ExportFormat::Csv) {
    return base::fail(ErrorKind::Misused, "--what is of --to csv",
                      "the other formats have a form of their own");
  }
  if (is_database(options.format) || !is_stream(options.common.output_path)) {
    status = check_room(options.common.output_path, options.overwrites,
                        "tidemark export FILE.tdm --to sqlite -o OUT.db");
  }
  if (!status) return status;
  return check_apart(options.path, options.common.output_path);
}

// Tables have rows of processes; one without any would seem to be of nothing.
void tell_of_trace_alone(const ExportOptions& options,
                         const store::Recording& recording) {
  const bool has_trace_in_it = profile_format(options.format) ||
                               options.format == ExportFormat::Perfetto;
  if (has_trace_in_it || !recording.processes().empty()) return;
  const base::Result<std::optional<model::RecordedTrace>> trace =
      recording.trace();
  if (!trace || !*trace) return;
  print_note(options.common,
             "no process was recorded, a trace alone; `tidemark trace " +
                 base::visible(options.path) + " --json` prints it");
}

base::Result<ExitCode> run_export(const ExportOptions& options) {
  base::Status status = check_options(options);
  if (!status) return status.error();
  base::Result<store::Recording> recording = open_recording(options.path);
  if (!recording) return recording.error();
  base::Result<store::ProcessSet> processes =
      choose_processes(*recording, options.pid, options.process);
  if (!processes) return processes.error();
  base::Result<Span> span = find_span(*recording, options);
  if (!span) return span.error();
  const ExportJob job = {options, *recording, std::move(*processes), *span};
  const std::string& path = options.common.output_path;
  if (is_binary(options.format) && is_stream(path) &&
      ::isatty(STDOUT_FILENO) != 0) {
    return base::fail(ErrorKind::Misused, "this format is none for a terminal",
                      "name a file with -o");
  }
  tell_of_trace_alone(options, *recording);
  if (!is_database(options.format) && is_stream(path)) {
    base::Result<Output> output = Output::open(path);
    if (!output) return output.error();
    status = export_text(job, *output);
    if (!status) return status.error();
    return ExitCode::Done;
  }
  base::Result<PendingFile> file = PendingFile::reserve(path);
  if (!file) return file.error();
  status = export_to_file(job, file->temporary_path());
  if (status) status = file->keep();
  if (!status) return status.error();
  const auto count = static_cast<uint64_t>(span->last - span->first) + 1;
  print_note(options.common,
             fmt::format("exported {} tick{} to {}", base::grouped(count),
                         count == 1 ? "" : "s", base::visible(path)));
  return ExitCode::Done;
}

base::Status take_format(const std::string& word, ExportFormat& format) {
  format = word == "jsonl"            ? ExportFormat::JsonLines
           : word == "sqlite"         ? ExportFormat::Sqlite
           : word == "folded"         ? ExportFormat::Folded
           : word == "memory-watcher" ? ExportFormat::Watcher
           : word == "perfetto"       ? ExportFormat::Perfetto
           : word == "pprof"          ? ExportFormat::Pprof
           : word == "speedscope"     ? ExportFormat::Speedscope
                                      : ExportFormat::Csv;
  return base::Ok{};
}

base::Status take_table(const std::string& word,
                        std::optional<view::ExportTable>& table) {
  table = word == "mappings"     ? view::ExportTable::Mappings
          : word == "categories" ? view::ExportTable::Categories
          : word == "machine"    ? view::ExportTable::Machine
                                 : view::ExportTable::Processes;
  return base::Ok{};
}

base::Status take_tick(const std::string& word,
                       std::optional<int64_t>& target) {
  target = base::parse_i64(word);
  if (target && *target >= 0) return base::Ok{};
  return base::fail(ErrorKind::Misused,
                    "'" + base::visible(word) + "' is no tick");
}

void add_span_options(OptionTable& table, ExportOptions& o) {
  table.value("--at", "TIME",
              "this moment alone: a time, 90s after the start, tick:17, start, "
              "end, peak (the default of stacks)",
              o.at);
  table.flag("--peak", "the same as --at peak", [&o] { o.at = "peak"; });
  table.value("--since", "TIME", "from this moment on", o.since);
  table.value("--until", "TIME", "up to this moment", o.until);
  table.value(
      "--from-tick", "N", "from this tick on",
      [&o](const std::string& word) { return take_tick(word, o.first_tick); });
  table.value(
      "--to-tick", "N", "up to this tick",
      [&o](const std::string& word) { return take_tick(word, o.last_tick); });
  table.value("-p,--pid", "PID", "this process alone", o.pid);
  table.value("--process", "ID", "the same by its number in the recording",
              o.process);
}

void add_export_options(OptionTable& table, ExportOptions& o) {
  table.positional("FILE.tdm", "the recording", o.path, true);
  table.choice("--to",
               {"csv", "jsonl", "sqlite", "folded", "pprof", "speedscope",
                "perfetto", "memory-watcher"},
               "the format (default csv)", [&o](const std::string& word) {
                 return take_format(word, o.format);
               });
  table.choice(
      "--what", {"processes", "mappings", "categories", "machine"},
      "the rows of csv: one for each tick and process (default), "
      "mapping, kind of memory, or of the machine",
      [&o](const std::string& word) { return take_table(word, o.table); });
  add_span_options(table, o);
  add_time_zone_option(table, "of memory-watcher's times", o.zone);
  add_file_options(table, o.common, o.overwrites,
                   {.output = "write there; - is stdout",
                    .quiet = "no remarks on standard error"});
}

}  // namespace

Command export_command() {
  auto options = std::make_shared<ExportOptions>();
  Command command;
  command.name = "export";
  command.summary = "a recording as CSV, JSON Lines, SQLite, stacks or a trace";
  command.description =
      "Writes a recording out for other programs, tick by tick and each tick "
      "whole: `csv` a table of processes, mappings, kinds of memory or the "
      "machine; `jsonl` an object for each tick with every process and "
      "mapping; `sqlite` flat tables with one wide row for each tick, process "
      "and mapping; `folded` one moment as stacks for flame graph tools; "
      "`pprof` and `speedscope` stacks of one moment and of the peak; all "
      "three "
      "those of the trace where that is all the recording has; "
      "`perfetto` a trace with counters for each process and kind of memory, "
      "and for what each task of a trace holds; "
      "`memory-watcher` a database its own tools can read. Sizes are bytes "
      "and times UTC, but for memory-watcher, which wants KiB and local time. "
      "Where the mappings of a process were not read at a tick those of the "
      "last reading stand there, scaled to its resident memory of the tick, "
      "and detail_tick says when they were read.";
  command.examples = {
      {"tidemark export web.tdm -o web.csv", "a row per tick and process"},
      {"tidemark export web.tdm --what categories --since 60s", "to stdout"},
      {"tidemark export web.tdm --to folded | flamegraph.pl", "the peak"},
      {"tidemark export web.tdm --to pprof --at 90s -o web.pb", "and the peak"},
      {"tidemark export web.tdm --to perfetto -o web.pftrace", "for its UI"},
      {"tidemark export web.tdm --to sqlite -o web.db", "for SQL"},
      {"tidemark export a.tdm --to memory-watcher -o old.db", "for its tools"},
  };
  add_export_options(command.options, *options);
  command.run = [options] { return run_export(*options); };
  return command;
}

}  // namespace tidemark::cli
