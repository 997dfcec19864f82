#include "source/process_source.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/escape.h"
#include "base/text.h"
#include "parse/process_files.h"
#include "source/machine_reader.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::ProcessId;
using model::ProcessState;

base::Error all_ended(const std::vector<ProcessId>& targets, bool is_zombie) {
  if (targets.size() > 1) {
    return base::fail(ErrorKind::Gone, "all " + std::to_string(targets.size()) +
                                           " processes have ended");
  }
  const std::string process = "process " + std::to_string(targets[0].pid);
  if (is_zombie) {
    return base::fail(ErrorKind::Gone,
                      process +
                          " is a zombie: it has ended and has no memory, its "
                          "parent has not collected it yet");
  }
  return base::fail(ErrorKind::Gone, process + " has ended");
}

struct Bearer {
  ProcessId id;
  std::string comm;
  std::string command;
};

// comm, the base name of the program, or both it and its script as `ps` shows
// them: "python3 style.py".
bool has_name(const model::ProcessStat& stat, std::string_view command_line,
              std::string_view name) {
  if (stat.comm == name) return true;
  std::string_view rest = command_line;
  const std::string_view program =
      base::base_name(base::take_until(rest, '\0'));
  const std::string_view script = base::base_name(base::take_until(rest, '\0'));
  if (program.empty()) return false;
  return program == name ||
         (!script.empty() &&
          std::string(program) + " " + std::string(script) == name);
}

base::Error ambiguous(const std::string& name,
                      const std::vector<Bearer>& bearers) {
  constexpr size_t kShown = 10;
  std::string list;
  for (size_t i = 0; i < std::min(bearers.size(), kShown); ++i) {
    list += "\n  " + std::to_string(bearers[i].id.pid) + "  " +
            base::fit_width(base::visible(bearers[i].command), 60, "...");
  }
  if (bearers.size() > kShown) {
    list += "\n  and " + std::to_string(bearers.size() - kShown) + " more";
  }
  return base::fail(ErrorKind::Misused,
                    "'" + base::visible(name) + "' is the name of " +
                        std::to_string(bearers.size()) + " processes:" + list,
                    "name one of them by its pid");
}

base::Result<ProcessId> find_by_pid(ProcessReader& reader,
                                    const std::string& word, int32_t pid) {
  base::Result<model::ProcessStat> stat = reader.read_stat(pid);
  if (!stat) {
    const ErrorKind kind = stat.error().kind;
    if (kind == ErrorKind::NotFound || kind == ErrorKind::Gone) {
      return base::fail(ErrorKind::NotFound, "no process has the pid " + word);
    }
    return base::fail(kind, stat.error().what,
                      kind == ErrorKind::Denied
                          ? "the proc mount hides other users' processes "
                            "(hidepid); run as root"
                          : "");
  }
  return ProcessId{pid, stat->start_ticks};
}

base::Result<ProcessId> find_by_name(const Roots& roots, ProcessReader& reader,
                                     const std::string& name) {
  base::Result<std::vector<int32_t>> pids = reader.list_pids();
  if (!pids) return pids.error();
  std::vector<Bearer> bearers;
  for (int32_t pid : *pids) {
    if (roots.is_live && pid == ::getpid()) continue;
    base::Result<model::ProcessStat> stat = reader.read_stat(pid);
    if (!stat) continue;
    base::Result<std::string> text =
        base::read_file_at(roots.proc, std::to_string(pid) + "/cmdline");
    const std::string_view command =
        text ? parse::parse_command_line(*text) : std::string_view();
    if (!has_name(*stat, command, name)) continue;
    std::string shown(command.empty() ? stat->comm : command);
    std::ranges::replace(shown, '\0', ' ');
    bearers.push_back({{pid, stat->start_ticks}, stat->comm, shown});
  }
  if (bearers.empty()) {
    return base::fail(ErrorKind::NotFound,
                      "no process is called '" + base::visible(name) + "'",
                      "names are matched whole; `tidemark ps` lists them");
  }
  if (bearers.size() > 1) return ambiguous(name, bearers);
  return bearers[0].id;
}

bool is_number(std::string_view word) {
  return !word.empty() &&
         word.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

ProcessSource::ProcessSource(const Roots& roots, CollectOptions options)
    : roots_(roots),
      options_(std::move(options)),
      cgroups_(CgroupHierarchy::find(roots)),
      reader_(roots_, cgroups_, options_.detail) {}

base::Result<std::vector<int32_t>> ProcessSource::choose_pids() {
  if (options_.selection.targets.empty()) return reader_.list_pids();
  std::vector<int32_t> chosen;
  std::set<int32_t> seen;
  const auto choose = [&](int32_t pid) {
    if (seen.insert(pid).second) chosen.push_back(pid);
  };
  const bool with_descendants = options_.selection.with_descendants;
  for (const ProcessId& target : options_.selection.targets) {
    if (with_descendants) {
      // The children of a reused pid are strangers like itself.
      base::Result<model::ProcessStat> stat = reader_.read_stat(target.pid);
      if (!stat || stat->start_ticks != target.start_ticks) continue;
    }
    choose(target.pid);
  }
  if (!with_descendants) return chosen;
  // Breadth first; `chosen` grows while it is walked.
  for (size_t i = 0; i < chosen.size(); ++i) {
    base::Result<std::vector<int32_t>> children = reader_.children(chosen[i]);
    if (!children) continue;  // it ended: its children are init's now
    for (int32_t child : *children)
      choose(child);
  }
  return chosen;
}

bool ProcessSource::is_expected(const model::Process& process) const {
  for (const ProcessId& target : options_.selection.targets) {
    if (target.pid == process.id.pid) return target == process.id;
  }
  return true;
}

base::Status ProcessSource::collect_processes(model::Sample& sample) {
  base::Result<std::vector<int32_t>> pids = choose_pids();
  if (!pids) return pids.error();
  sample.processes.reserve(pids->size());
  for (size_t i = 0; i < pids->size(); ++i) {
    if (options_.progress) options_.progress(i, pids->size());
    base::Result<model::Process> process = reader_.read((*pids)[i]);
    if (!process) {
      const ErrorKind kind = process.error().kind;
      if (kind == ErrorKind::NotFound || kind == ErrorKind::Gone) continue;
      return process.error();
    }
    if (process->state == ProcessState::Gone || !is_expected(*process)) {
      continue;
    }
    sample.processes.push_back(std::move(*process));
  }
  const std::vector<ProcessId>& targets = options_.selection.targets;
  const bool one_left =
      std::ranges::any_of(sample.processes, [&](const model::Process& process) {
        return std::ranges::find(targets, process.id) != targets.end() &&
               process.state != ProcessState::Zombie;
      });
  if (!targets.empty() && !one_left) {
    const bool is_zombie =
        std::ranges::find(sample.processes, targets[0], &model::Process::id) !=
        sample.processes.end();
    return all_ended(targets, is_zombie);
  }
  return base::Ok{};
}

void ProcessSource::collect_cgroups(model::Sample& sample) const {
  // Every group with a process and all groups above it.
  std::set<std::string> paths;
  for (const model::Process& process : sample.processes) {
    std::string_view path = process.cgroup_path;
    while (path.size() > 1) {
      if (!paths.emplace(path).second) break;
      path = path.substr(0, std::max<size_t>(path.rfind('/'), 1));
    }
    if (!process.cgroup_path.empty()) paths.emplace("/");
  }
  for (const std::string& path : paths) {
    sample.cgroups.push_back(cgroups_.read(path));
  }
}

base::Status ProcessSource::collect(model::Sample& sample) {
  sample = model::Sample();
  sample.started_realtime_ns = base::realtime_ns();
  sample.started_monotonic_ns = base::monotonic_ns();
  sample.reader_is_root = ::geteuid() == 0;
  if (options_.machine) {
    base::Result<model::Machine> machine = read_machine(roots_, cgroups_);
    // A tree with processes and no meminfo still answers for them.
    if (machine) sample.machine = std::move(*machine);
  }
  base::Status status = collect_processes(sample);
  if (!status) return status;
  if (options_.cgroups) collect_cgroups(sample);
  sample.ended_monotonic_ns = base::monotonic_ns();
  return base::Ok{};
}

base::Result<ProcessId> find_process(const Roots& roots,
                                     const std::string& word) {
  // As `ps` prints it, "p:1234", or bare.
  const std::string pid_or_name =
      word.starts_with("p:") ? word.substr(2) : word;
  CgroupHierarchy no_cgroups;
  ProcessReader reader(roots, no_cgroups, {});
  if (pid_or_name.starts_with('-')) {
    return base::fail(ErrorKind::Misused, "'" + base::visible(pid_or_name) +
                                              "' is no pid and no name");
  }
  if (!is_number(pid_or_name)) return find_by_name(roots, reader, pid_or_name);
  std::optional<int32_t> pid = base::parse_pid(pid_or_name);
  if (!pid) {
    return base::fail(ErrorKind::NotFound,
                      "no process has the pid " + pid_or_name);
  }
  return find_by_pid(reader, pid_or_name, *pid);
}

bool is_called(const Roots& roots, int32_t pid, const std::string& name) {
  CgroupHierarchy no_cgroups;
  ProcessReader reader(roots, no_cgroups, {});
  base::Result<model::ProcessStat> stat = reader.read_stat(pid);
  if (!stat) return false;
  base::Result<std::string> text =
      base::read_file_at(roots.proc, std::to_string(pid) + "/cmdline");
  return has_name(*stat,
                  text ? parse::parse_command_line(*text) : std::string_view(),
                  name);
}

}  // namespace tidemark::source
