// Who took pages, for means that tell of pids alone: a process is named from
// /proc when it is first met, and by what is told of forks, execs and names
// from then on. What is told comes in the order in which it happened, but late:
// a process may be gone by then, and has only the name that was told.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/trace_builder.h"
#include "source/cgroups.h"
#include "source/live_trace.h"
#include "source/roots.h"

namespace tidemark::source {

class TraceTasks {
 public:
  // Processes that come when there are as many count together.
  static constexpr size_t kMostTasks = 131'072;

  // Both must outlive it.
  TraceTasks(const Roots& roots, const TraceFilter& filter,
             size_t most_tasks = kMostTasks);

  // Names everybody there is, since some will have ended when they are met;
  // `with_threads` where only threads are told of.
  void meet_all(bool with_threads);

  // The process of that pid as of now.
  uint32_t find(int32_t pid);
  // Arguments as they are now, separated by blanks.
  std::string command_line_of(int32_t pid) const;
  // The process that a thread belongs to.
  int32_t process_of(int32_t thread_id) const;
  // Stands for all interrupts, whomever they hit.
  uint32_t interrupts();

  bool is_wanted(uint32_t task) const { return tasks_[task].is_wanted; }

  void thread_started(int32_t thread_id, int32_t pid);
  void forked(int32_t pid, int32_t parent_pid, uint64_t time_ns);
  void renamed(int32_t pid, std::string_view name);
  // Without a command line it is read now, which may be too late.
  void execed(int32_t pid, std::string command_line);
  void exited(int32_t pid);

  // Adds those that are used; the builder's index for each of ours.
  std::vector<uint32_t> build(const std::vector<bool>& is_used,
                              model::TraceBuilder& builder);

 private:
  struct Task {
    model::TraceTask task;
    int32_t parent_pid = 0;
    bool is_in_tree = false;
    bool is_wanted = true;
  };
  uint32_t add(int32_t pid);
  uint32_t keep(Task task);
  uint32_t keep_for_many(int32_t key, Task task);
  void read(Task& task) const;
  bool is_below_wanted(int32_t parent_pid);
  void judge(Task& task) const;
  bool has_ended(const model::TraceTask& task) const;

  const Roots& roots_;
  const TraceFilter& filter_;
  CgroupHierarchy groups_;
  std::string wanted_group_;
  size_t most_tasks_;
  uint64_t boot_offset_ns_ = 0;  // from monotonic time to that since boot
  std::vector<Task> tasks_;
  std::unordered_map<int32_t, uint32_t> by_pid_;
  std::unordered_map<int32_t, int32_t> process_of_thread_;
  int32_t last_pid_ = -1;  // most events are of whoever was the last
  uint32_t last_task_ = 0;
  // What stands for many of them is found like a process.
  static constexpr int32_t kInterrupts = -1;
  static constexpr int32_t kOthers = -2;
};

}  // namespace tidemark::source
