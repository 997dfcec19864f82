// The report of `ps`: who has the machine's memory, as a tree of groups and
// processes whose sums close.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/machine_account.h"
#include "analysis/process_use.h"
#include "base/result.h"
#include "model/sample.h"

namespace tidemark::analysis {

enum class GroupBy { Cgroup, Parent, User, Exe, Session, Container };
enum class SortBy { Pss, Private, Shared, Swap, Kernel, Rss, Pid, Name };

struct PsOptions {
  GroupBy group_by = GroupBy::Cgroup;
  SortBy sort_by = SortBy::Pss;
  std::string filter;   // only processes whose name, command, user or group
                        // contains it; letter case does not matter
  int32_t own_pid = 0;  // never found by the filter
  std::string job;      // only this group: its id, path or name
  bool with_threads = false;
  // The command line, the user and why something is unknown: a third of the
  // time for 5,000 processes, and not everybody shows them.
  bool with_texts = true;
  // Rows below one per cent of their group, and beyond the first `top`, become
  // one row that says how many they are.
  bool fold = true;
  std::optional<size_t> top;
};

struct UserLabel {
  uint32_t user_id = 0;
  std::string name;
};

enum class RowKind { Group, Process, Thread, Folded };

struct PsRow {
  RowKind kind = RowKind::Process;
  uint32_t depth = 0;
  uint64_t id = 0;  // group: inode or ordinal; else pid or thread id
  std::string name;
  Use use;

  // Groups and folded rows.
  size_t process_count = 0;
  std::string key;  // cgroup path, user id, program, …
  std::optional<model::Reading<uint64_t>> charged_bytes;
  std::optional<model::Reading<uint64_t>> peak_bytes;
  std::optional<uint64_t> limit_bytes;
  bool charges_hugetlb = false;

  // CHARGED - PSS (and huge pages where those are charged): what the kernel
  // charged to the group and no process of it maps. Negative when the group
  // uses pages that others were charged for.
  std::optional<int64_t> unseen_bytes() const;

  // Processes.
  model::ProcessId process;
  int32_t parent_pid = 0;
  std::string comm;
  std::string command;
  std::string user;
  std::string cgroup_path;
  char run_state = '?';
  model::ProcessState state = model::ProcessState::Ok;
  std::optional<std::vector<model::DescriptorCount>> descriptors;
  std::optional<uint64_t> descriptor_total() const;
  std::vector<std::pair<std::string, std::string>> unknown;
};

struct PsReport {
  bool is_exact = false;  // shares to the page
  uint64_t realtime_ns = 0;
  uint64_t read_ns = 0;
  GroupBy group_by = GroupBy::Cgroup;
  SortBy sort_by = SortBy::Pss;
  std::vector<PsRow> rows;  // groups before their members
  Use total;                // of all processes shown
  size_t process_count = 0;
  size_t kernel_thread_count = 0;
  std::vector<std::string> denied;  // "p:733 sshd"
  std::string denied_because;
  std::string denied_hint;
  // Only when everything was read: a filter or a job has no account.
  std::optional<MachineAccount> account;
  model::CgroupVersion cgroup_version = model::CgroupVersion::None;
  std::string cgroup_note;
};

// Misused when `job` names no group.
base::Result<PsReport> make_ps_report(const model::Sample& sample,
                                      const PsOptions& options,
                                      const std::vector<UserLabel>& users);

}  // namespace tidemark::analysis
