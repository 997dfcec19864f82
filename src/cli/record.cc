#include <sys/resource.h>

#include <memory>
#include <utility>

#include "analysis/run_report.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/output_file.h"
#include "cli/record_options.h"
#include "cli/record_words.h"
#include "cli/recording_folder.h"
#include "cli/recording_head.h"
#include "cli/targets.h"
#include "source/process_source.h"
#include "source/roots.h"
#include "store/recorder.h"
#include "watch/high_watch.h"
#include "watch/record_source.h"
#include "watch/record_watch.h"
#include "watch/recorded_command.h"
#include "watch/stop_signals.h"
#include "watch/trace_means.h"
#include "watch/trace_recording.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

model::RecordingInfo info_of(const source::Roots& roots,
                             const RecordCommandOptions& options,
                             std::string targets) {
  model::RecordingInfo info =
      recording_head(roots, std::move(targets), options.loop.period_ns);
  info.budget = watch::budget_words(options.budget);
  return info;
}

// Two files stay open for each process.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

// A reader that loses the CPU while it holds the lock of the process it reads
// makes that process wait: measured 1.2 s at nice 19 beside two busy programs.
void keep_priority(const CommonOptions& common) {
  if (::getpriority(PRIO_PROCESS, 0) <= 0) return;
  if (::setpriority(PRIO_PROCESS, 0, 0) == 0) return;
  print_note(common,
             "recording at a low priority can stall the recorded processes: "
             "they wait for a lock that we hold");
}

// memory-record took a pid and a period in milliseconds. A second number that
// is no process can only be that.
void take_old_form(const source::Roots& roots, RecordCommandOptions& options) {
  if (options.targets.size() != 2 || options.period_ns) return;
  const std::optional<uint64_t> period = base::parse_u64(options.targets[1]);
  if (!base::parse_u64(options.targets[0]) || !period || *period == 0) return;
  if (base::exists_at(roots.proc, options.targets[1] + "/stat")) return;
  constexpr uint64_t kNsPerMs = 1'000'000;
  options.period_ns = *period * kNsPerMs;
  options.targets.pop_back();
  print_note(options.common, "'" + std::to_string(*period) +
                                 "' is no process and taken as the interval "
                                 "in ms");
}

// A tree that is no procfs of this kernel has nobody to stall. One target,
// looked at each second or less often, is worth a full reading each time.
void settle_budget(const source::Roots& roots, bool is_single,
                   RecordCommandOptions& options) {
  watch::BudgetOptions& budget = options.budget;
  budget.period_ns = options.loop.period_ns;
  budget.allows_stall |= !roots.is_local;
  if (!options.has_budget) {
    budget.is_limited = roots.is_local;
    budget.prefers_whole = is_single && budget.period_ns >= base::kNsPerSecond;
  }
}

std::string target_words(const RecordCommandOptions& options,
                         const std::vector<model::ProcessId>& ids) {
  if (options.everything) return "every process";
  std::string words;
  const auto add = [&](const std::string& word) {
    words += (words.empty() ? "" : ", ") + word;
  };
  for (const model::ProcessId& id : ids)
    add("process " + std::to_string(id.pid));
  for (const std::string& name : options.names)
    add("'" + name + "'");
  for (const std::string& group : options.cgroups)
    add("cgroup " + group);
  if (!options.without_children) words += " and descendants";
  return words;
}

// The trace of `--with trace`, ready to go; none unless asked for. Of one tree
// of processes alone where one is recorded.
base::Result<std::unique_ptr<watch::AttachedTrace>> attach_trace(
    const RecordCommandOptions& options, const source::Roots& roots,
    std::optional<int32_t> tree_pid) {
  if (!options.trace) return std::unique_ptr<watch::AttachedTrace>();
  if (!roots.is_live) {
    return base::fail(ErrorKind::Misused,
                      "tracing needs the running kernel's own /proc",
                      "leave out --proc and unset PROCFS");
  }
  source::TraceOptions trace = options.trace->trace;
  if (!options.trace->everything) trace.filter.tree_pid = tree_pid;
  base::Result<watch::ChosenTrace> chosen = watch::choose_trace(
      roots,
      {options.trace->backend, trace, options.trace->follows_slab, true});
  if (!chosen) return chosen.error();
  return std::make_unique<watch::AttachedTrace>(roots, std::move(*chosen));
}

void add_trace(watch::AttachedTrace* trace, watch::RecordHooks& hooks) {
  if (trace == nullptr) return;
  hooks.add = [trace](model::Sample& sample) { return trace->add_to(sample); };
  hooks.add_last = [trace](model::Sample& sample) {
    return trace->add_last_to(sample);
  };
  hooks.wait_until = [trace,
                      wait = std::move(hooks.wait_until)](uint64_t until) {
    return trace->wait_until(until, wait);
  };
}

base::Result<watch::RecordResult> record_with(
    const RecordCommandOptions& options, const model::RecordingInfo& info,
    watch::RecordSource& source, watch::RecordHooks hooks,
    watch::AttachedTrace* trace) {
  base::Status status =
      make_room(options.common.output_path, options.overwrites,
                "tidemark record -o FILE.tdm ...");
  if (!status) return status.error();
  store::RecorderOptions recorder_options;
  recorder_options.most_bytes = options.most_bytes;
  base::Result<std::unique_ptr<store::Recorder>> recorder =
      store::Recorder::create(options.common.output_path, info,
                              recorder_options);
  if (!recorder) return recorder.error();
  print_note(options.common, record_rule(options.budget));
  raise_file_limit();
  keep_priority(options.common);
  RecordLine line(options.common, options.common.output_path);
  hooks.now_ns = base::monotonic_ns;
  // In a folder the next one takes over where this one cannot go on.
  LimitWatch limit;
  bool is_full = false;
  // A command that we have started goes on whatever we may read.
  const bool may_be_denied =
      !options.allows_denied && !options.everything && options.command.empty();
  bool is_denied = false;
  RemarkPrinter remarks(options.common);
  hooks.read = [&](const model::Sample& sample) {
    if (!sample.notes.empty()) line.wipe();
    remarks.print(sample);
  };
  hooks.progress = [&](const watch::RecordProgress& progress) {
    line.show(progress);
    is_denied =
        may_be_denied && progress.sample_count == 1 && source.is_denied();
    if (!options.keep_bytes) return;
    is_full = limit.is_reached(progress.is_paused,
                               has_disk_room(options.common.output_path),
                               progress.elapsed_ns);
  };
  hooks.wait_until = [&is_full, &is_denied,
                      wait = std::move(hooks.wait_until)](uint64_t until) {
    return is_full || is_denied ? watch::WaitEnd::Stop : wait(until);
  };
  add_trace(trace, hooks);
  if (trace != nullptr) trace->go();
  base::Result<watch::RecordResult> result =
      watch::record(source, **recorder, options.loop, hooks);
  line.wipe();
  if (result && is_full) result->last.is_paused = false;
  if (result) print_record_end(options.common, *result, source.tally());
  if (result && is_denied) result->end = watch::LoopEnd::Denied;
  return result;
}

base::Result<ExitCode> record_command_line(RecordCommandOptions& options,
                                           const source::Roots& roots) {
  if (!roots.is_live) {
    return base::fail(ErrorKind::Misused,
                      "a command needs the running kernel's own /proc",
                      "leave out --proc and unset PROCFS");
  }
  source::CommandSpec spec;
  spec.arguments = options.command;
  spec.ignores_broken_pipe = were_broken_pipes_ignored();
  base::Result<watch::RecordedCommand> command =
      watch::RecordedCommand::prepare(roots, std::move(spec));
  if (!command) return command.error();
  base::Result<std::unique_ptr<watch::AttachedTrace>> trace =
      attach_trace(options, roots, command->pid());
  if (!trace) return trace.error();
  std::string words;
  for (const std::string& word : options.command)
    words += (words.empty() ? "" : " ") + word;
  watch::RecordSelection selection;
  uint64_t wait_count = 0;
  // Until it has become the command it is a copy of ours.
  selection.members = [&] {
    return wait_count > 1 ? command->members() : std::vector<int32_t>();
  };
  selection.until_exit = false;  // the command's end ends the recording
  settle_budget(roots, true, options);
  watch::RecordSource source(roots, std::move(selection), options.budget);
  base::Status released = base::Ok{};
  watch::RecordHooks hooks;
  hooks.wait_until = [&](uint64_t until) {
    // The first sample is of the machine before it starts, so that there is one
    // however short it lives.
    if (wait_count++ == 0) return watch::WaitEnd::Due;
    if (wait_count == 2) {
      released = command->release();
      if (!released) return watch::WaitEnd::Stop;
    }
    return command->wait_until(until);
  };
  hooks.sampled = [&](uint64_t cost_ns) { command->sampled(cost_ns); };
  base::Result<watch::RecordResult> result = record_with(
      options, info_of(roots, options, words), source, hooks, trace->get());
  std::optional<source::Ending> ending = command->finish();
  if (!released) {
    static_cast<void>(::unlink(options.common.output_path.c_str()));
    print_error(released.error());
    return released.error().kind == ErrorKind::NotFound
               ? ExitCode::NotFound
               : ExitCode::NotExecutable;
  }
  if (!result) return result.error();
  if (!ending) return ExitCode::Done;
  return static_cast<ExitCode>(analysis::exit_status_of(ending->wait_status));
}

enum class NameWait { Found, Stopped, TimeIsUp };

// Blocks until a process of one of the names is there.
NameWait wait_for_names(const RecordCommandOptions& options,
                        const source::Roots& roots,
                        watch::StopSignals& signals) {
  constexpr uint64_t kLookNs = 50'000'000;
  const uint64_t began_ns = base::monotonic_ns();
  bool has_said = false;
  source::CgroupHierarchy no_cgroups;
  source::ProcessReader reader(roots, no_cgroups, {});
  while (true) {
    base::Result<std::vector<int32_t>> pids = reader.list_pids();
    if (!pids) return NameWait::Found;
    for (int32_t pid : *pids) {
      if (roots.is_live && pid == ::getpid()) continue;
      for (const std::string& name : options.names) {
        if (source::is_called(roots, pid, name)) return NameWait::Found;
      }
    }
    if (!std::exchange(has_said, true)) {
      print_note(options.common, "waiting for a process called '" +
                                     base::visible(options.names.front()) +
                                     "'");
    }
    const uint64_t now_ns = base::monotonic_ns();
    if (options.loop.duration_ns &&
        now_ns - began_ns >= *options.loop.duration_ns) {
      return NameWait::TimeIsUp;
    }
    if (signals.wait_until(now_ns + kLookNs) == watch::WaitEnd::Stop) {
      return NameWait::Stopped;
    }
  }
}

watch::RecordSelection selection_of(const RecordCommandOptions& options,
                                    std::vector<model::ProcessId> ids) {
  watch::RecordSelection selection;
  selection.targets = std::move(ids);
  selection.names = options.names;
  selection.cgroups = options.cgroups;
  selection.everything = options.everything;
  selection.with_descendants = !options.without_children;
  selection.until_exit = !options.stays;
  return selection;
}

ExitCode status_of(const watch::RecordResult& result) {
  if (result.end == watch::LoopEnd::Denied) {
    print_error(
        base::fail(ErrorKind::Denied,
                   "nothing but counters may be read of what was chosen",
                   "--allow-denied records those"));
    return ExitCode::TargetGone;
  }
  return result.last.is_paused ? ExitCode::Failed : ExitCode::Done;
}

base::Result<ExitCode> record_processes(RecordCommandOptions& options,
                                        const source::Roots& roots) {
  std::vector<model::ProcessId> ids;
  if (!options.targets.empty()) {
    base::Result<std::vector<model::ProcessId>> found =
        find_targets(roots, options.targets);
    if (!found) return found.error();
    ids = std::move(*found);
  }
  base::Result<watch::StopSignals> signals = watch::StopSignals::block();
  if (!signals) return signals.error();
  if (!options.names.empty() && ids.empty()) {
    const NameWait end = wait_for_names(options, roots, *signals);
    if (end == NameWait::Stopped) return ExitCode::Done;
    if (end == NameWait::TimeIsUp) {
      return base::fail(ErrorKind::NotFound,
                        "no process called '" +
                            base::visible(options.names.front()) +
                            "' came in that time");
    }
  }
  base::Result<std::unique_ptr<watch::AttachedTrace>> trace = attach_trace(
      options, roots,
      ids.size() == 1 ? std::optional(ids.front().pid) : std::nullopt);
  if (!trace) return trace.error();
  // Names that are waited for may be of many in time.
  settle_budget(
      roots,
      ids.size() == 1 && options.names.empty() && options.cgroups.empty(),
      options);
  watch::RecordSource source(roots, selection_of(options, ids), options.budget);
  std::optional<watch::HighWatch> highs;
  if (roots.is_live && !ids.empty()) {
    std::vector<int32_t> pids;
    pids.reserve(ids.size());
    for (const model::ProcessId& id : ids)
      pids.push_back(id.pid);
    base::Result<watch::HighWatch> started =
        watch::HighWatch::start(pids, !options.without_children);
    if (started) highs.emplace(std::move(*started));
  }
  watch::RecordHooks hooks;
  hooks.wait_until = [&](uint64_t until) {
    const int wake_fd = highs ? highs->fd() : -1;
    watch::WaitEnd end = signals->wait_until(until, wake_fd);
    while (end == watch::WaitEnd::Wake && !highs->is_due())
      end = signals->wait_until(until, wake_fd);
    return end;
  };
  hooks.sampled = [&](uint64_t cost_ns) {
    if (highs) highs->sampled(cost_ns);
  };
  base::Result<watch::RecordResult> result =
      record_with(options, info_of(roots, options, target_words(options, ids)),
                  source, hooks, trace->get());
  if (!result) return result.error();
  return status_of(*result);
}

base::Status check_folder_options(const RecordCommandOptions& options) {
  constexpr const char* kExample =
      "tidemark record --all --into FOLDER --keep 1G";
  if (options.folder.empty() && options.keep_bytes) {
    return base::fail(ErrorKind::Misused, "--keep is for --into", kExample);
  }
  if (!options.folder.empty() && !options.common.output_path.empty()) {
    return base::fail(ErrorKind::Misused, "-o and --into exclude each other",
                      kExample);
  }
  if (options.keep_bytes && options.most_bytes &&
      *options.most_bytes > *options.keep_bytes) {
    return base::fail(ErrorKind::Misused,
                      "one recording may be larger than all of them",
                      "give --max-size less than --keep");
  }
  return base::Ok{};
}

// With --into: names the file, after making room for all it may become.
base::Result<std::optional<RecordingFolder>> take_folder(
    RecordCommandOptions& options) {
  base::Status status = check_folder_options(options);
  if (!status) return status.error();
  if (options.folder.empty()) return std::optional<RecordingFolder>();
  base::Result<RecordingFolder> folder = RecordingFolder::take(options.folder);
  if (!folder) return folder.error();
  if (options.keep_bytes) {
    constexpr uint64_t kFiles = 8;
    if (!options.most_bytes) options.most_bytes = *options.keep_bytes / kFiles;
    base::Result<std::vector<std::string>> gone =
        folder->shrink(*options.keep_bytes - *options.most_bytes);
    if (!gone) return gone.error();
    for (const std::string& path : *gone) {
      print_note(options.common,
                 "removed to make room: " + base::visible(path));
    }
  }
  options.common.output_path = folder->next_path(base::realtime_ns());
  print_note(options.common,
             "recording to " + base::visible(options.common.output_path));
  return std::optional<RecordingFolder>(std::move(*folder));
}

base::Result<ExitCode> run_record(RecordCommandOptions options) {
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  take_old_form(*roots, options);
  const bool has_target = !options.targets.empty() || !options.names.empty() ||
                          !options.cgroups.empty();
  const int kinds = (has_target ? 1 : 0) + (options.everything ? 1 : 0) +
                    (options.command.empty() ? 0 : 1);
  if (kinds != 1) {
    return base::fail(
        ErrorKind::Misused,
        kinds == 0 ? "nothing to record was named"
                   : "processes, --all and a command exclude each other",
        "tidemark record -o FILE.tdm PID | --name NAME | --all | -- COMMAND");
  }
  options.loop.period_ns = options.period_ns.value_or(1'000'000'000);
  base::Result<std::optional<RecordingFolder>> folder = take_folder(options);
  if (!folder) return folder.error();
  return options.command.empty() ? record_processes(options, *roots)
                                 : record_command_line(options, *roots);
}

}  // namespace

Command record_command() {
  auto options = std::make_shared<RecordCommandOptions>();
  Command command;
  command.name = "record";
  command.summary = "record memory over time, every mapping, to a file";
  command.description =
      "Writes the memory of processes to FILE.tdm: each mapping with all its "
      "counters, each process, the machine and its control groups, at every "
      "tick and at new highs. Only changes are stored, and a kill at any "
      "moment loses a second at most. Reading a process costs time and makes "
      "its own mmap calls wait, so there is a budget for both: beyond it less "
      "is read, and the file says what and when. A recording can be read "
      "while it is written; `peak`, `info`, `replay`, `diff` and `export` read "
      "it, and so does sqlite3. --with trace adds who took which pages through "
      "which code of the kernel, on the same clock; `trace FILE.tdm` reports "
      "it.";
  command.examples = {
      {"tidemark record -o web.tdm 1234", "a process and what it starts"},
      {"tidemark record -o build.tdm -f 10Hz -- make -j8", "a command"},
      {"tidemark record -o day.tdm --all --max-size 200M", "the whole machine"},
      {"tidemark record --all --into /srv/runs --keep 1G",
       "always, 1 GiB at most"},
      {"tidemark record -o db.tdm --name postgres", "as soon as it starts"},
      {"tidemark record -o build.tdm --with trace -- make",
       "with kernel allocations"},
  };
  add_record_options(command.options, *options);
  command.run = [options] { return run_record(*options); };
  return command;
}

}  // namespace tidemark::cli
