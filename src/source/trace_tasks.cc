#include "source/trace_tasks.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "base/clock.h"
#include "base/text.h"
#include "parse/process_files.h"
#include "source/process_parts.h"

namespace tidemark::source {
namespace {

constexpr size_t kCommLength = 15;  // of a name, what the kernel keeps

uint64_t boot_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  constexpr uint64_t kSecond = 1'000'000'000;
  return static_cast<uint64_t>(now.tv_sec) * kSecond +
         static_cast<uint64_t>(now.tv_nsec);
}

uint64_t ns_of_ticks(uint64_t ticks) {
  const auto per_second = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  return ticks * (1'000'000'000 / per_second);
}

std::optional<model::ProcessStat> read_stat(const Roots& roots, int32_t pid) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  base::Result<model::ProcessStat> stat = parse::parse_stat(*text);
  if (!stat) return std::nullopt;
  return std::move(*stat);
}

std::vector<int32_t> pids_in(const base::Directory& directory) {
  std::vector<int32_t> pids;
  base::Result<std::vector<std::string>> names =
      base::list_directory(directory);
  if (!names) return pids;
  for (const std::string& name : *names) {
    const std::optional<int32_t> pid = base::parse_pid(name);
    if (pid) pids.push_back(*pid);
  }
  return pids;
}

}  // namespace

TraceTasks::TraceTasks(const Roots& roots, const TraceFilter& filter,
                       size_t most_tasks)
    : roots_(roots),
      filter_(filter),
      groups_(CgroupHierarchy::find(roots)),
      most_tasks_(most_tasks) {
  boot_offset_ns_ = boot_ns() - base::monotonic_ns();
  if (!filter.cgroup_id) return;
  const std::map<uint64_t, std::string> groups = groups_.list();
  const auto wanted = groups.find(*filter.cgroup_id);
  if (wanted != groups.end()) wanted_group_ = wanted->second;
}

void TraceTasks::meet_all(bool with_threads) {
  for (int32_t pid : pids_in(roots_.proc)) {
    find(pid);
    if (!with_threads) continue;
    base::Result<base::Directory> threads =
        base::open_directory_at(roots_.proc, std::to_string(pid) + "/task");
    if (!threads) continue;
    for (int32_t thread : pids_in(*threads))
      thread_started(thread, pid);
  }
}

uint32_t TraceTasks::find(int32_t pid) {
  pid = std::max(pid, 0);  // what has none any more is nobody's
  if (pid == last_pid_) return last_task_;
  const auto known = by_pid_.find(pid);
  last_task_ = known != by_pid_.end() ? known->second : add(pid);
  last_pid_ = pid;
  return last_task_;
}

int32_t TraceTasks::process_of(int32_t thread_id) const {
  const auto known = process_of_thread_.find(thread_id);
  return known == process_of_thread_.end() ? thread_id : known->second;
}

uint32_t TraceTasks::keep_for_many(int32_t key, Task task) {
  const auto known = by_pid_.find(key);
  if (known != by_pid_.end()) return known->second;
  tasks_.push_back(std::move(task));
  const auto index = static_cast<uint32_t>(tasks_.size() - 1);
  by_pid_.emplace(key, index);
  return index;
}

// Some that nobody asked for may be among the others; what they hold counts.
uint32_t TraceTasks::keep(Task task) {
  if (tasks_.size() >= most_tasks_) {
    Task others;
    others.task.name = "other processes";
    return keep_for_many(kOthers, std::move(others));
  }
  tasks_.push_back(std::move(task));
  return static_cast<uint32_t>(tasks_.size() - 1);
}

uint32_t TraceTasks::interrupts() {
  Task task;
  task.task.name = "interrupts";
  task.task.is_interrupt = true;
  task.is_wanted =
      !filter_.tree_pid && !filter_.cgroup_id && filter_.comm.empty();
  return keep_for_many(kInterrupts, std::move(task));
}

uint32_t TraceTasks::add(int32_t pid) {
  Task task;
  task.task.pid = pid;
  read(task);
  task.is_in_tree = filter_.tree_pid && (pid == *filter_.tree_pid ||
                                         is_below_wanted(task.parent_pid));
  judge(task);
  const uint32_t index = keep(std::move(task));
  by_pid_[pid] = index;
  return index;
}

void TraceTasks::read(Task& task) const {
  model::TraceTask& known = task.task;
  if (known.pid == 0) {
    known.name = "swapper";
    known.is_kernel_thread = true;
    return;
  }
  const std::optional<model::ProcessStat> stat = read_stat(roots_, known.pid);
  if (!stat) {
    known.has_exited = true;
    return;
  }
  known.name = stat->comm;
  known.start_ns = ns_of_ticks(stat->start_ticks);
  known.is_kernel_thread = stat->is_kernel_thread;
  task.parent_pid = stat->parent_pid;
  known.cgroup = groups_.path_of(roots_, known.pid);
  if (!known.is_kernel_thread) {
    known.command_line = command_line_of(known.pid);
  }
}

std::string TraceTasks::command_line_of(int32_t pid) const {
  return read_command_line(roots_, pid);
}

bool TraceTasks::is_below_wanted(int32_t parent_pid) {
  constexpr int kMostAncestors = 32;
  for (int i = 0; i < kMostAncestors && parent_pid > 1; ++i) {
    if (parent_pid == *filter_.tree_pid) return true;
    const auto known = by_pid_.find(parent_pid);
    if (known != by_pid_.end()) return tasks_[known->second].is_in_tree;
    const std::optional<model::ProcessStat> stat =
        read_stat(roots_, parent_pid);
    if (!stat) return false;
    parent_pid = stat->parent_pid;
  }
  return false;
}

void TraceTasks::judge(Task& task) const {
  task.is_wanted = (!filter_.tree_pid || task.is_in_tree) &&
                   (!filter_.cgroup_id || task.task.cgroup == wanted_group_) &&
                   (filter_.comm.empty() ||
                    task.task.name == filter_.comm.substr(0, kCommLength));
}

void TraceTasks::thread_started(int32_t thread_id, int32_t pid) {
  if (thread_id == pid) {
    process_of_thread_.erase(thread_id);
  } else {
    process_of_thread_[thread_id] = pid;
  }
}

void TraceTasks::forked(int32_t pid, int32_t parent_pid, uint64_t time_ns) {
  process_of_thread_.erase(pid);
  // Everything but these is the parent's until it execs.
  Task task = tasks_[find(parent_pid)];
  task.task.pid = pid;
  task.task.start_ns = time_ns + boot_offset_ns_;
  task.task.has_exited = false;
  task.parent_pid = parent_pid;
  task.is_in_tree |= filter_.tree_pid && pid == *filter_.tree_pid;
  judge(task);
  by_pid_[pid] = keep(std::move(task));
  last_pid_ = -1;
}

void TraceTasks::renamed(int32_t pid, std::string_view name) {
  Task& task = tasks_[find(pid)];
  if (task.task.pid != pid) return;  // it stands for many
  task.task.name = name;
  judge(task);
}

void TraceTasks::execed(int32_t pid, std::string command_line) {
  Task& task = tasks_[find(pid)];
  if (task.task.pid != pid) return;  // it stands for many
  task.task.is_kernel_thread = false;
  task.task.command_line =
      command_line.empty() ? command_line_of(pid) : std::move(command_line);
}

void TraceTasks::exited(int32_t pid) {
  const auto known = by_pid_.find(pid);
  if (known == by_pid_.end()) return;
  model::TraceTask& task = tasks_[known->second].task;
  if (task.pid == pid) task.has_exited = true;
}

// Its end may have been lost, or its pid be another's by now; and where perf
// says so it may be the end of its first thread alone.
bool TraceTasks::has_ended(const model::TraceTask& task) const {
  if (task.pid == 0) return task.has_exited;  // or it stands for many
  const std::optional<model::ProcessStat> stat = read_stat(roots_, task.pid);
  if (!stat) return true;
  const uint64_t start_ns = ns_of_ticks(stat->start_ticks);
  constexpr uint64_t kLater = 1'000'000'000;
  if (start_ns > task.start_ns + kLater) return true;
  return task.has_exited && stat->thread_count < 2;
}

std::vector<uint32_t> TraceTasks::build(const std::vector<bool>& is_used,
                                        model::TraceBuilder& builder) {
  std::vector<uint32_t> task_of(tasks_.size());
  for (size_t i = 0; i < tasks_.size() && i < is_used.size(); ++i) {
    if (!is_used[i]) continue;
    model::TraceTask& known = tasks_[i].task;
    known.has_exited = has_ended(known);
    if (!known.has_exited && !known.is_kernel_thread && known.pid != 0 &&
        known.command_line.empty()) {
      known.command_line = command_line_of(known.pid);
    }
    task_of[i] = builder.task(known);
  }
  return task_of;
}

}  // namespace tidemark::source
