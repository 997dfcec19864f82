#include "view/tui/process_choice.h"

#include <algorithm>
#include <utility>

#include "analysis/process_use.h"

namespace tidemark::view::tui {

base::Result<ProcessChoice> ProcessChoice::make(const std::string& text) {
  base::Result<analysis::ProcessFilter> filter =
      analysis::ProcessFilter::parse(text);
  if (!filter) return filter.error();
  ProcessChoice choice;
  choice.text_ = text;
  choice.filter_ = std::move(*filter);
  return choice;
}

void ProcessChoice::look_at(const analysis::TopSnapshot& snapshot) {
  processes_.clear();
  read_pids_.clear();
  for (const model::Process& process : snapshot.sample.processes) {
    read_pids_.push_back(process.id.pid);
    if (filter_.matches(process, analysis::use_of(process, {}), snapshot.users))
      processes_.push_back(process.id);
  }
  std::ranges::sort(processes_, {}, &model::ProcessId::pid);
  std::ranges::sort(read_pids_);
}

bool ProcessChoice::has(int32_t pid) const {
  return std::ranges::binary_search(processes_, pid, {},
                                    &model::ProcessId::pid);
}

bool ProcessChoice::has_task(const model::TraceTask& task) const {
  // Of one that was read all is known: what is not known of a task must not
  // make it meant by `not pss>1G`.
  if (!task.has_exited && std::ranges::binary_search(read_pids_, task.pid))
    return has(task.pid);
  model::Process ended;
  ended.id.pid = task.pid;
  ended.stat.pid = task.pid;
  ended.stat.comm = task.name;
  ended.command_line = task.command_line;
  ended.cgroup_path = task.cgroup;
  return filter_.matches(ended, analysis::use_of(ended, {}), {});
}

}  // namespace tidemark::view::tui
