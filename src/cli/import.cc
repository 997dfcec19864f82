#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/build_info.h"
#include "cli/commands.h"
#include "cli/file_options.h"
#include "cli/import_input.h"
#include "cli/output_file.h"
#include "store/recorder.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

constexpr const char* kExample = "tidemark import FILE -o OUT.tdm";

struct ImportCommandOptions {
  std::vector<std::string> files;
  ImportOptions import;
  bool overwrites = false;
  CommonOptions common;
};

// Samples of other files in a recording of ours: their times are the only clock
// there is. What stands behind is not allowed to be earlier on it, since files
// are taken in the order given.
class ImportSink {
 public:
  explicit ImportSink(store::Recorder& recorder) : recorder_(recorder) {}

  base::Status accept(model::Sample& sample) {
    if (!first_ns_) first_ns_ = sample.started_realtime_ns;
    const uint64_t since = sample.started_realtime_ns > *first_ns_
                               ? sample.started_realtime_ns - *first_ns_
                               : 0;
    last_ns_ = std::max(last_ns_, since);
    sample.started_monotonic_ns = last_ns_;
    sample.ended_monotonic_ns = last_ns_;
    if (sample.vms) {
      sample.vms->started_monotonic_ns = last_ns_;
      sample.vms->ended_monotonic_ns = last_ns_;
      for (model::Vm& vm : sample.vms->vms)
        vm.detail_monotonic_ns = last_ns_;
    }
    ++sample_count_;
    for (const model::Process& process : sample.processes)
      processes_.emplace(process.id.pid, process.id.start_ticks);
    return recorder_.accept(sample);
  }

  uint64_t sample_count() const { return sample_count_; }
  uint64_t process_count() const { return processes_.size(); }

 private:
  store::Recorder& recorder_;
  std::optional<uint64_t> first_ns_;
  uint64_t last_ns_ = 0;
  uint64_t sample_count_ = 0;
  std::set<std::pair<int32_t, uint64_t>> processes_;
};

std::string origin_of(const std::vector<ImportInput>& inputs,
                      const ImportCommandOptions& options) {
  std::string origin;
  for (const ImportInput& input : inputs) {
    if (!origin.empty()) origin += "; ";
    origin += input.words + ": " + std::string(base::base_name(input.path));
    if (input.watcher) {
      origin += " (times taken as " + options.import.zone.words() + ")";
    }
  }
  return origin;
}

model::RecordingInfo info_of(const std::vector<ImportInput>& inputs,
                             const ImportCommandOptions& options) {
  model::RecordingInfo info;
  info.tool = "tidemark " + std::string(kVersion);
  info.origin = origin_of(inputs, options);
  info.targets = "imported processes";
  constexpr uint64_t kSecond = 1'000'000'000;
  if (inputs.front().words == "memstats") info.period_ns = kSecond;
  return info;
}

base::Status copy_samples(ImportInput& input, ImportSink& sink) {
  for (model::Sample& sample : input.samples) {
    base::Status status = sink.accept(sample);
    if (!status) return status;
  }
  if (!input.watcher) return base::Ok{};
  const uint64_t before = sink.sample_count();
  model::Sample sample;
  while (true) {
    base::Result<bool> more = input.watcher->next(sample);
    if (!more) return more.error();
    if (!*more) break;
    base::Status status = sink.accept(sample);
    if (!status) return status;
  }
  if (sink.sample_count() == before) {
    return base::fail(ErrorKind::Malformed,
                      input.path + ": no measurements in it");
  }
  return base::Ok{};
}

std::string counted(uint64_t count, const std::string& word) {
  return base::grouped(count) + " " + word + (count == 1 ? "" : "s");
}

void tell_counts(const CommonOptions& common, const ImportInput& input) {
  if (input.is_cut) {
    print_note(common,
               base::visible(input.path) + " has no end; " +
                   base::counted(input.samples.size(), "record is whole",
                                 "records are whole"));
  }
  if (!input.watcher) return;
  const store::WatcherCounts& counts = input.watcher->counts();
  const std::string where = base::visible(input.path) + ": ";
  if (counts.collided_count > 0) {
    print_note(common, where + counted(counts.collided_count, "measurement") +
                           " of " + base::grouped(counts.measurement_count) +
                           " collided with others; " +
                           (counts.unrepaired_count == 0
                                ? std::string("all were put right")
                                : base::grouped(counts.unrepaired_count) +
                                      " could not be put right") +
                           ", each has a note");
  }
  if (counts.bridged_count > 0) {
    print_note(common,
               where + counted(counts.bridged_count, "measurement") +
                   " missing between others of the same process; the values "
                   "before stand there");
  }
  if (counts.orphan_count > 0) {
    print_note(common, where + counted(counts.orphan_count, "measurement") +
                           " of no process left out");
  }
}

void summarize(const ImportCommandOptions& options,
               const std::vector<ImportInput>& inputs, const ImportSink& sink) {
  const std::string& path = options.common.output_path;
  struct stat info {};
  const bool is_there = ::stat(path.c_str(), &info) == 0;
  print_note(
      options.common,
      fmt::format(
          "imported {} of {} from {} to {} ({})",
          counted(sink.sample_count(), "sample"),
          sink.process_count() == 1
              ? "1 process"
              : base::grouped(sink.process_count()) + " processes",
          inputs.size() == 1 ? base::visible(inputs[0].words)
                             : counted(inputs.size(), "file"),
          base::visible(path),
          base::long_size(is_there ? static_cast<uint64_t>(info.st_size) : 0)));
  for (const ImportInput& input : inputs)
    tell_counts(options.common, input);
}

base::Result<std::vector<ImportInput>> open_inputs(
    const ImportCommandOptions& options) {
  std::vector<ImportInput> inputs;
  for (const std::string& path : options.files) {
    base::Status apart = check_apart(path, options.common.output_path);
    if (!apart) return apart.error();
    base::Result<ImportInput> input = open_import(path, options.import);
    if (!input) return input.error();
    inputs.push_back(std::move(*input));
  }
  return inputs;
}

base::Result<ExitCode> run_import(const ImportCommandOptions& options) {
  if (options.files.empty()) {
    return base::fail(ErrorKind::Misused, "no file to import was named",
                      kExample);
  }
  if (options.files.size() > 1 && options.import.realtime_ns) {
    return base::fail(ErrorKind::Misused, "--at is of one file",
                      "several have the times they were changed at");
  }
  base::Status status =
      check_room(options.common.output_path, options.overwrites, kExample);
  if (!status) return status.error();
  base::Result<std::vector<ImportInput>> inputs = open_inputs(options);
  if (!inputs) return inputs.error();
  base::Result<PendingFile> file =
      PendingFile::reserve(options.common.output_path);
  if (!file) return file.error();
  store::RecorderOptions recorder_options;
  // Of the samples' time: nobody waits for one of them to be safe.
  constexpr uint64_t kMinute = 60'000'000'000;
  recorder_options.commit_every_ns = kMinute;
  base::Result<std::unique_ptr<store::Recorder>> recorder =
      store::Recorder::create(file->temporary_path(), info_of(*inputs, options),
                              recorder_options);
  if (!recorder) return recorder.error();
  ImportSink sink(**recorder);
  for (ImportInput& input : *inputs) {
    status = copy_samples(input, sink);
    if (!status) return status.error();
  }
  status = (*recorder)->finish();
  recorder->reset();
  if (status) status = file->keep();
  if (!status) return status.error();
  summarize(options, *inputs, sink);
  return ExitCode::Done;
}

base::Status take_format(const std::string& word, ImportFormat& format) {
  format = word == "memory-watcher" ? ImportFormat::Watcher
           : word == "smaps"        ? ImportFormat::Smaps
           : word == "memstats"     ? ImportFormat::Memstats
                                    : ImportFormat::Auto;
  return base::Ok{};
}

void add_import_options(OptionTable& table, ImportCommandOptions& o) {
  table.positional("FILE", "files to import, in the order of their samples",
                   o.files, true);
  table.choice("--from", {"auto", "memory-watcher", "smaps", "memstats"},
               "what the files are (default: told by how they begin)",
               [&o](const std::string& word) {
                 return take_format(word, o.import.format);
               });
  add_time_zone_option(table, "of times without one", o.import.zone);
  table.value("--at", "TIME",
              "when text was captured (default: when the file was changed)",
              [&o](const std::string& word) -> base::Status {
                o.import.realtime_ns = base::parse_rfc3339(word);
                if (o.import.realtime_ns) return base::Ok{};
                return base::fail(ErrorKind::Misused,
                                  "'" + base::visible(word) + "' is no time",
                                  "2026-11-15T09:55:12Z");
              });
  table.value("--pid", "N", "whose memory it is, where the file does not tell",
              [&o](const std::string& word) -> base::Status {
                o.import.pid = base::parse_pid(word);
                if (o.import.pid) return base::Ok{};
                return base::fail(ErrorKind::Misused,
                                  "'" + base::visible(word) + "' is no pid");
              });
  table.value("--name", "NAME", "how that process is called", o.import.name);
  add_file_options(table, o.common, o.overwrites,
                   {.output = "the recording to make", .quiet = "no summary"});
}

}  // namespace

Command import_command() {
  auto options = std::make_shared<ImportCommandOptions>();
  Command command;
  command.name = "import";
  command.summary = "make a recording of what another tool has written";
  command.description =
      "Reads databases of memory-watcher (all generations), the text of smaps "
      "and smaps_rollup, and the JSON of crosvm's memstats, and makes one "
      "recording of them; the files stay as they are. What is known to be "
      "wrong in a memory-watcher database is put right: its single oom value "
      "is the adjustment, the swap cache is unknown, and rows that collided "
      "with others are taken out, with a note at their sample. Its times have "
      "no zone, so --time-zone says how they are meant. Of totals without "
      "mappings (smaps_rollup, memstats) the kernel's own split of PSS is "
      "kept; of memstats the guest's numbers too, for `vm list FILE.tdm`.";
  command.examples = {
      {"tidemark import measurement.db -o a.tdm --time-zone UTC",
       "of memory-watcher"},
      {"tidemark import smaps.txt -o a.tdm --pid 12 --name db",
       "one process, once"},
      {"tidemark import a.txt b.txt -o ab.tdm", "two of them"},
      {"tidemark import memstats.json -o vm.tdm", "a virtual machine"},
  };
  add_import_options(command.options, *options);
  command.run = [options] { return run_import(*options); };
  return command;
}

}  // namespace tidemark::cli
