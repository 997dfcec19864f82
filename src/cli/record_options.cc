#include "cli/record_options.h"

#include <cstdlib>

#include "base/text.h"
#include "base/units.h"
#include "cli/file_options.h"
#include "cli/get.h"
#include "cli/trace_words.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

// "none", or a share of a core ("2%"), a longest stall ("5ms"), or both parted
// by a comma.
base::Status take_budget(const std::string& word,
                         watch::BudgetOptions& budget) {
  if (word == "none") {
    budget.is_limited = false;
    return base::Ok{};
  }
  budget.is_limited = true;
  for (std::string_view part : base::split(word, ',')) {
    if (part.ends_with('%')) {
      const std::optional<double> percent = base::parse_percent(part);
      if (!percent || *percent == 0) {
        return base::fail(ErrorKind::Misused, "'" + word + "' is not a budget",
                          "a share of a core and a longest stall: 2%,5ms");
      }
      budget.core_share = *percent / 100;
      continue;
    }
    // A bare number could be either.
    const bool is_bare =
        part.find_first_not_of("0123456789.") == std::string_view::npos;
    base::Result<uint64_t> ns = base::parse_duration(part);
    if (!ns || is_bare) {
      return base::fail(ErrorKind::Misused, "'" + word + "' is not a budget",
                        "a share of a core and a longest stall: 2%,5ms");
    }
    budget.stall_ns = *ns;
  }
  return base::Ok{};
}

base::Error no_trace_option(std::string_view word) {
  return base::fail(
      ErrorKind::Misused, "'" + std::string(word) + "' is no option of a trace",
      "trace:all, trace:slab, trace:sample=16, trace:backend=perf, "
      "trace:buf-size=8, or several of them: "
      "trace:all:sample=16");
}

base::Status take_trace_option(std::string_view word,
                               RecordTraceOptions& options) {
  if (word == "all") {
    options.everything = true;
    return base::Ok{};
  }
  if (word == "slab") {
    options.follows_slab = true;
    return base::Ok{};
  }
  std::string_view rest = word;
  const std::string_view name = base::take_until(rest, '=');
  const std::string value(rest);
  if (name == "sample") {
    return take_trace_sample(value, options.trace.sample_period);
  }
  if (name == "buf-size") {
    return take_trace_buffer(value, options.trace.ring_bytes);
  }
  if (name != "backend") return no_trace_option(word);
  options.backend = model::trace_backend_from_token(value);
  if (!options.backend || *options.backend == model::TraceBackend::PageOwner) {
    return no_trace_option(word);
  }
  return base::Ok{};
}

// "trace", with its options behind colons.
base::Status take_with(const std::string& word, RecordCommandOptions& o) {
  std::string_view rest = word;
  if (base::take_until(rest, ':') != "trace") {
    return base::fail(ErrorKind::Misused,
                      "'" + word + "' cannot be recorded along", "trace");
  }
  o.trace = RecordTraceOptions();
  while (!rest.empty()) {
    base::Status status =
        take_trace_option(base::take_until(rest, ':'), *o.trace);
    if (!status) return status;
  }
  return base::Ok{};
}

void add_target_options(OptionTable& table, RecordCommandOptions& o) {
  table.positional("PID|NAME", "processes to record", o.targets, false);
  table.command_after_dashes("COMMAND", "or a command to start and record",
                             o.command);
  table.value("--name", "NAME",
              "every process of that name, also those that start later",
              [&o](const std::string& word) -> base::Status {
                o.names.push_back(word);
                return base::Ok{};
              });
  table.value("--cgroup", "PATH",
              "every process in a control group or below it",
              [&o](const std::string& word) -> base::Status {
                o.cgroups.push_back(word.starts_with('/') ? word : "/" + word);
                return base::Ok{};
              });
  table.flag("-a,--all", "every process of the machine", o.everything);
  table.flag("--no-children", "do not follow what the processes start",
             o.without_children);
  table.flag("--until-exit",
             "end with the last of the chosen processes (default)",
             [&o] { o.stays = false; });
  table.flag("--stay", "go on when they have ended, until Ctrl-C", o.stays);
}

void add_clock_options(OptionTable& table, RecordCommandOptions& o) {
  table.value("-f,--frequency", "RATE", "samples per second: 10, 10Hz, 100ms",
              [&o](const std::string& word) -> base::Status {
                base::Result<uint64_t> ns = parse_frequency(word);
                if (!ns) return ns.error();
                o.period_ns = *ns;
                return base::Ok{};
              });
  table.value("--interval,--period", "DUR|HZ",
              "time between samples: 100ms, 2s, 10Hz (default 1s)",
              [&o](const std::string& word) -> base::Status {
                base::Result<uint64_t> ns = base::parse_duration(word);
                if (!ns) return ns.error();
                o.period_ns = *ns;
                return base::Ok{};
              });
  table.value("--duration", "DUR", "end after this time, with a last sample",
              [&o](const std::string& word) -> base::Status {
                base::Result<uint64_t> ns = base::parse_duration(word);
                if (!ns) return ns.error();
                o.loop.duration_ns = *ns;
                return base::Ok{};
              });
  table.count("--count", "end after so many samples by the clock",
              [&o](uint64_t count) { o.loop.count = count; });
}

void add_cost_options(OptionTable& table, RecordCommandOptions& o) {
  table.value(
      "--budget", "SHARE,STALL|none",
      "what reading may cost: a share of a core and the longest stall "
      "of a process (default 2%,5ms); beyond it less is read. Without it one "
      "process or command is read in full at every tick of a second or more, "
      "up to 10 % of a core",
      [&o](const std::string& word) {
        o.has_budget = true;
        return take_budget(word, o.budget);
      });
  table.flag("--allow-stall", "read smaps also where that stalls longer",
             o.budget.allows_stall);
  table.flag("--allow-denied",
             "go on where only counters of the chosen processes may be read",
             o.allows_denied);
  table.value("--max-size", "SIZE",
              "keep the file smaller: the oldest detail is thinned out, peaks "
              "stay",
              [&o](const std::string& word) -> base::Status {
                base::Result<uint64_t> bytes = base::parse_size(word);
                if (!bytes) return bytes.error();
                o.most_bytes = *bytes;
                return base::Ok{};
              });
  table.value("--into", "DIR",
              "instead of -o: a new file in this folder, named by the time",
              o.folder);
  table.value("--keep", "SIZE",
              "keep all recordings of that folder smaller together: the oldest "
              "are removed when a new one begins (--max-size is an eighth "
              "unless given)",
              [&o](const std::string& word) -> base::Status {
                base::Result<uint64_t> bytes = base::parse_size(word);
                if (!bytes) return bytes.error();
                o.keep_bytes = *bytes;
                return base::Ok{};
              });
}

}  // namespace

void add_record_options(OptionTable& table, RecordCommandOptions& o) {
  add_target_options(table, o);
  add_clock_options(table, o);
  add_cost_options(table, o);
  table.value("--with", "trace[:OPTION]…",
              "record page allocations of the kernel along, of the one process "
              "or command with its descendants, else of the machine; with the "
              "options all, slab, sample=N, backend=NAME, buf-size=MB of "
              "`trace`",
              [&o](const std::string& word) { return take_with(word, o); });
  table.value("--proc", "DIR",
              "another proc tree: a copy, an sshfs mount (PROCFS)",
              o.common.proc_path);
  add_file_options(
      table, o.common, o.overwrites,
      {.output = "where to record to", .quiet = "no progress and no summary"});
}

}  // namespace tidemark::cli
